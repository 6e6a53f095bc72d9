// The routes that both servers have, with the same answers where nothing fails.
import { Type } from '@sinclair/typebox'

const Ok = { response: { 200: Type.Object({ ok: Type.Boolean() }) } }
const optional = (schema) => Type.Union([schema, Type.Null()])
const Value = Type.Object({
  key: Type.String(),
  scope: Type.Integer(),
  value: Type.String(),
  isOverridden: Type.Boolean(),
  source: Type.String(),
  locked: Type.Boolean(),
  version: Type.Integer(),
  userId: optional(Type.String()),
  updatedAt: optional(Type.String()),
  updatedBy: optional(Type.String()),
})
const Values = { response: { 200: Type.Array(Value) } }

/** What a table of settings would hold. */
const rows = new Map(Array.from({ length: 50 }, (_, number) => [`bench.key-${number}`, `value ${number}`]))

/** As the settings API shows them, made anew for each request. */
function listSettings() {
  const own = { isOverridden: false, source: 'default', locked: false, version: 0 }
  return [...rows].map(([key, value]) => {
    return { key, scope: 1, value, ...own, userId: null, updatedAt: null, updatedBy: null }
  })
}

/** `mayRead(request)` stands for the permission check; `notFound()` makes the error of a domain miss. */
export function addRoutes(app, { mayRead, notFound }) {
  app.get('/public/ping', { schema: Ok }, (_request, reply) => void reply.send({ ok: true }))
  app.get('/private', { schema: Ok }, (request, reply) => void reply.send({ ok: mayRead(request) }))
  app.get('/missing', () => {
    throw notFound()
  })
  app.get('/list', { schema: Values }, (_request, reply) => void reply.send(listSettings()))
}
