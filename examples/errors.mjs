// Every failure is a problem (RFC 9457): those of the domain, one of your own, and what nobody expected.
//
//   node examples/errors.mjs
//   curl -i localhost:3000/orders/42                                                        # 404 NOT_FOUND
//   curl -i localhost:3000/orders -H 'content-type: application/json' -d '{"price":30}'     # 402 "balance":20
//   curl -i localhost:3000/orders -H 'content-type: application/json' -d '{"price":"much"}' # 400 "errors"
//   curl -i localhost:3000/orders -H 'content-type: application/json' -d '{"price":5}'      # 201 "balance":15
//   curl -i localhost:3000/defect                                                           # 500 requestId
import Fastify from 'fastify'
import { NotFoundException } from '@fastify-modular/core'
import { createErrorServerOptions, errors } from '@fastify-modular/errors'
import { Type } from '@sinclair/typebox'

class OutOfCreditError extends Error {}
let balance = 20

// The server's own failures, such as a URL that cannot be decoded, are problems by these options.
const app = Fastify({ logger: true, ...createErrorServerOptions() })
await app.register(errors) // before all other plugins

app.problems
  .define('out-of-credit', {
    status: 402,
    title: 'Out of credit',
    detail: (problem) => `Your balance is ${problem.balance}.`,
  })
  .map(OutOfCreditError, { to: 'out-of-credit', extensions: () => ({ balance }) })

app.get('/orders/:id', async ({ params }) => {
  throw new NotFoundException('Order', params.id)
})

const Order = Type.Object({ price: Type.Number({ minimum: 0 }) })
app.post('/orders', { schema: { body: Order } }, async (request, reply) => {
  if (request.body.price > balance) throw new OutOfCreditError()
  balance -= request.body.price
  return reply.code(201).send({ balance })
})

app.get('/defect', async () => undefined.name) // the log has the stack, the answer does not

await app.listen({ port: Number(process.env.PORT ?? 3000) })
