// Express 5: cookie-parser and a session middleware behind the public route, an error handler for problem+json.
import { createServer } from 'node:http'
import cookieParser from 'cookie-parser'
import express from 'express'
import { listSettings } from '../../servers/listed-settings.mjs'
import { missing, nextId, unauthorized, unmatched } from '../shared/problems.mjs'
import { serveHttp } from '../shared/serve-http.mjs'
import { mayRead, sessions } from '../shared/sessions.mjs'

class NotFoundError extends Error {}

const answer = (res, { status, headers }, body) => res.status(status).set(headers).json(body)

function session(req, res, next) {
  req.user = sessions.get(req.cookies.session)
  if (req.user === undefined) answer(res, unauthorized, unauthorized.body(nextId()))
  else next()
}

const app = express()
app.disable('x-powered-by')
app.disable('etag') // nobody else computes one
app.get('/public/ping', (_req, res) => void res.json({ ok: true }))
app.use(cookieParser())
app.use(session)
app.get('/private', (req, res) => void res.json({ ok: mayRead(req.user) }))
app.get('/refused', (_req, res) => void res.json({ ok: false }))
app.get('/missing', () => {
  throw new NotFoundError('Thing with ID 42 not found')
})
app.get('/list/plain', (_req, res) => void res.json(listSettings()))
app.use((req, res) => void answer(res, unmatched, unmatched.body(req.path, nextId())))
app.use((error, req, res, next) => {
  if (error instanceof NotFoundError) answer(res, missing, missing.body(error.message, req.path, nextId()))
  else next(error)
})
await serveHttp(createServer(app))
