// Hono on Node: a session middleware behind the public route, `onError` and `notFound` for problem+json.
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { getCookie } from 'hono/cookie'
import { HTTPException } from 'hono/http-exception'
import { listSettings } from '../../servers/listed-settings.mjs'
import { missing, nextId, unauthorized, unmatched } from '../shared/problems.mjs'
import { serveHttp } from '../shared/serve-http.mjs'
import { mayRead, sessions } from '../shared/sessions.mjs'

const answer = (c, { status, headers }, body) => c.body(JSON.stringify(body), status, headers)

function session(c, next) {
  const user = sessions.get(getCookie(c, 'session'))
  if (user === undefined) return answer(c, unauthorized, unauthorized.body(nextId()))
  c.set('user', user)
  return next()
}

const app = new Hono()
app.get('/public/ping', (c) => c.json({ ok: true }))
app.use(session)
app.get('/private', (c) => c.json({ ok: mayRead(c.get('user')) }))
app.get('/refused', (c) => c.json({ ok: false }))
app.get('/missing', () => {
  throw new HTTPException(404, { message: 'Thing with ID 42 not found' })
})
app.get('/list/plain', (c) => c.json(listSettings()))
app.notFound((c) => answer(c, unmatched, unmatched.body(c.req.path, nextId())))
app.onError((error, c) => {
  if (error instanceof HTTPException && error.status === 404)
    return answer(c, missing, missing.body(error.message, c.req.path, nextId()))
  return c.text('Internal Server Error', 500)
})
await serveHttp(createAdaptorServer({ fetch: app.fetch }))
