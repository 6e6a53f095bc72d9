import Fastify from 'fastify'
import { test } from 'tap'
import { addVary } from '@fastify-modular/core/internal'

test('Vary keeps the names that are set, and has none twice', async (t) => {
  const table: readonly (readonly [string | string[] | undefined, string])[] = [
    [undefined, 'Accept, X-Inertia'],
    ['Origin', 'Origin, Accept, X-Inertia'],
    ['accept', 'accept, X-Inertia'],
    ['x-inertia ,  ACCEPT', 'x-inertia ,  ACCEPT'],
    ['*', '*'],
    ['Origin, *', 'Origin, *'],
    [['Origin', 'Accept'], 'Origin,Accept, X-Inertia'],
  ]
  const app = Fastify()
  t.teardown(() => app.close())
  app.get<{ Querystring: { row: number } }>('/', (request, reply) => {
    const present = table[request.query.row]?.[0]
    if (present !== undefined) reply.header('vary', present)
    addVary(reply, 'Accept', 'X-Inertia')
    return reply.send('')
  })
  for (const [row, [, expected]] of table.entries()) {
    t.equal((await app.inject(`/?row=${row}`)).headers['vary'], expected)
  }
})
