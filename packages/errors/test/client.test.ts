/** The client half: what programs receive. */
import { readFile } from 'node:fs/promises'
import { brotliCompressSync } from 'node:zlib'
import {
  ConflictException,
  defineProblem,
  NotFoundException,
  ValidationException,
} from '@fastify-modular/core'
import { readProblem, type ReceivedProblem } from '@fastify-modular/errors/client'
import { Type } from '@sinclair/typebox'
import { test, type Test } from 'tap'
import { createApp, listen, throwing } from './support/app.js'

class NoCreditLeft extends defineProblem({
  status: 402,
  code: 'NO_CREDIT_LEFT',
  title: 'No credit left',
  extensions: Type.Object({ balance: Type.Number() }),
}) {}

async function serve(t: Test): Promise<(path: string) => Promise<Response>> {
  const { app } = await createApp(t, {
    after(it) {
      it.get('/ok', async () => ({ ok: true }))
      it.get('/credit', throwing(new NoCreditLeft('None is left.', { balance: 30 })))
      it.get('/fields', throwing(new ValidationException({ title: ['is short'] })))
      it.get('/missing', throwing(new NotFoundException('Note', 1)))
      it.get('/conflict', throwing(new ConflictException('stale', { status: 1, version: 2 })))
    },
  })
  const { port } = await listen(app)
  return (path) => fetch(`http://127.0.0.1:${port}${path}`)
}

/** What a program does with a problem: each branch knows its members. */
function describe(problem: ReceivedProblem<typeof NoCreditLeft>): string {
  if (problem.code === 'NO_CREDIT_LEFT') return `balance ${problem.balance.toFixed(2)}`
  if (problem.code === 'VALIDATION') return Object.keys(problem.errors).join()
  // @ts-expect-error -- no other problem has fields
  if (problem.code === 'NOT_FOUND') return `missing ${problem.errors}`
  return problem.title
}

test('problems are read by their code, with their own members', async (t) => {
  const get = await serve(t)
  t.equal(await readProblem(await get('/ok')), null)
  const expected = {
    '/credit': ['NO_CREDIT_LEFT', 402, 'balance 30.00'],
    '/fields': ['VALIDATION', 400, 'title'],
    '/missing': ['NOT_FOUND', 404, 'missing undefined'],
    '/conflict': ['CONFLICT', 409, 'Conflict'],
    '/nowhere': ['ROUTE_NOT_FOUND', 404, 'Not Found'],
  }
  for (const [path, [code, status, text]] of Object.entries(expected)) {
    const response = await get(path)
    const problem = await readProblem<typeof NoCreditLeft>(response)
    t.match(problem, { code, status, type: String, detail: String, requestId: String })
    t.equal(problem && describe(problem), text)
    t.match(await response.text(), '"requestId"', 'the body can be read again')
  }
})

test('whatever answers, nothing is thrown', async (t) => {
  const type = { headers: { 'content-type': 'application/problem+json' } }
  const used = new Response('{"code":"A"}', { status: 500, ...type })
  await used.text()
  const broken = new Response(new ReadableStream({ pull: (to) => to.error(new Error('cut off')) }), {
    status: 500,
    ...type,
  })
  const answers = [
    new Response('<h1>Bad gateway</h1>', { status: 502, statusText: 'Bad Gateway' }),
    new Response('{ cut', { status: 500, ...type }),
    new Response('null', { status: 500, ...type }),
    new Response('[]', { status: 500, ...type }),
    new Response('{"code":5}', { status: 500, ...type }),
    new Response('{"code":"A"}', { status: 500, headers: { 'content-type': 'application/json' } }),
    new Response(null, { status: 503 }),
    used,
    broken,
  ]
  for (const answer of answers)
    t.match(await readProblem(answer), { code: 'UNREADABLE', status: answer.status, title: /./, detail: '' })
  t.equal(await readProblem(new Response(null, { status: 304 })), null)
  const problem = await readProblem(new Response('{"code":"A","status":200}', { status: 409, ...type }))
  t.match(problem, { code: 'A', status: 409 }, 'the status is that of the answer')
})

test('it is smaller than 1 kB, compressed, and imports nothing', async (t) => {
  const source = await readFile(new URL('../dist/client.js', import.meta.url), 'utf8')
  const code = source.replaceAll(/\/\*[^]*?\*\/|^\/\/.*$/gm, '') // a bundler would take more away
  t.ok(brotliCompressSync(code).length < 1000, `${brotliCompressSync(code).length} bytes`)
  t.notMatch(code, /\bimport\b/)
})
