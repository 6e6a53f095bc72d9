// Koa: its own cookies, @koa/router, one middleware around everything for problem+json.
import { createServer } from 'node:http'
import { Router } from '@koa/router'
import Koa from 'koa'
import { listSettings } from '../../servers/listed-settings.mjs'
import { missing, nextId, unauthorized, unmatched } from '../shared/problems.mjs'
import { serveHttp } from '../shared/serve-http.mjs'
import { mayRead, sessions } from '../shared/sessions.mjs'

class NotFoundError extends Error {}

function answer(ctx, { status, headers }, body) {
  ctx.status = status
  ctx.body = body
  ctx.set(headers)
}

async function answerErrors(ctx, next) {
  try {
    await next()
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error
    answer(ctx, missing, missing.body(error.message, ctx.path, nextId()))
  }
}

function session(ctx, next) {
  ctx.state.user = sessions.get(ctx.cookies.get('session'))
  if (ctx.state.user) return next()
  return answer(ctx, unauthorized, unauthorized.body(nextId()))
}

const open = new Router()
open.get('/public/ping', (ctx) => void (ctx.body = { ok: true }))

const closed = new Router()
closed.get('/private', (ctx) => void (ctx.body = { ok: mayRead(ctx.state.user) }))
closed.get('/refused', (ctx) => void (ctx.body = { ok: false }))
closed.get('/missing', () => {
  throw new NotFoundError('Thing with ID 42 not found')
})
closed.get('/list/plain', (ctx) => void (ctx.body = listSettings()))

const app = new Koa()
app.use(answerErrors)
app.use(open.routes())
app.use(session)
app.use(closed.routes())
app.use((ctx) => answer(ctx, unmatched, unmatched.body(ctx.path, nextId())))
await serveHttp(createServer(app.callback()))
