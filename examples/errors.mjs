// Every failure is a problem (RFC 9457): those of the domain, one of your own, and what nobody expected.
//
//   node examples/errors.mjs
//   curl -i localhost:3000/orders/42                                                        # 404 NOT_FOUND
//   curl -i localhost:3000/orders -H 'content-type: application/json' -d '{"price":30}'     # 402 "balance":20
//   curl -i localhost:3000/orders -H 'content-type: application/json' -d '{"price":"much"}' # 400 "errors"
//   curl -i localhost:3000/orders -H 'content-type: application/json' -d '{"price":5}'      # 201 "balance":15
//   curl -i localhost:3000/defect                                                           # 500 requestId
import Fastify from 'fastify'
import { defineProblem, NotFoundException } from '@fastify-modular/core'
import { createErrorServerOptions, errors, problemResponses } from '@fastify-modular/errors'
import { Type } from '@sinclair/typebox'

class OutOfCredit extends defineProblem({
  status: 402,
  code: 'OUT_OF_CREDIT',
  title: 'Out of credit',
  extensions: Type.Object({ balance: Type.Number() }),
}) {}
let balance = 20

// The server's own failures, such as a URL that cannot be decoded, are problems by these options.
const app = Fastify({ logger: true, ...createErrorServerOptions() })
await app.register(errors) // before all other plugins

app.get('/orders/:id', async ({ params }) => {
  throw new NotFoundException('Order', params.id)
})

const Order = Type.Object({ price: Type.Number({ minimum: 0 }) })
const response = problemResponses(app, 400, OutOfCredit) // for the OpenAPI document
app.post('/orders', { schema: { body: Order, response } }, async (request, reply) => {
  if (request.body.price > balance) throw new OutOfCredit(`Your balance is ${balance}.`, { balance })
  balance -= request.body.price
  return reply.code(201).send({ balance })
})

app.get('/defect', async () => undefined.name) // the log has the stack, the answer does not

await app.listen({ port: Number(process.env.PORT ?? 3000) })
