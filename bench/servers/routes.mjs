// What the servers under comparison have in common: the same routes, the same answers.
import { Type } from '@sinclair/typebox'

const Ok = { response: { 200: Type.Object({ ok: Type.Boolean() }) } }
const Item = Type.Object({
  key: Type.String(),
  scope: Type.Integer(),
  value: Type.String(),
  updatedAt: Type.String(),
})
const List = { response: { 200: Type.Array(Item) } }
const rows = Array.from({ length: 50 }, (_, number) => ({
  key: `bench.key-${number}`,
  value: `value ${number}`,
  updatedAt: new Date(number * 1e9),
}))

/** `mayRead(request)` stands for the permission check; `notFound()` makes the error of a domain miss. */
export function addRoutes(app, { mayRead, notFound }) {
  app.get('/public/ping', { schema: Ok }, (_request, reply) => void reply.send({ ok: true }))
  app.get('/private', { schema: Ok }, (request, reply) => void reply.send({ ok: mayRead(request) }))
  app.get('/missing', () => {
    throw notFound()
  })
  app.get('/list', { schema: List }, (_request, reply) => {
    reply.send(
      rows.map(({ key, value, updatedAt }) => ({ key, scope: 1, value, updatedAt: updatedAt.toISOString() })),
    )
  })
}
