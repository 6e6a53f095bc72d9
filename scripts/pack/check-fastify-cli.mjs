// Runs the example of fastify-cli on the packed packages, by its own start script, and asks it over HTTP.
import { strict as assert } from 'node:assert'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { manifestOf } from '../files.mjs'
import { spawnApp } from '../../test-support/dist/spawn-app.js'

const patience = 120_000 // ms

const example = 'examples/fastify-cli'

/** Throws when the example does not start, or an answer is not the documented one. */
export async function checkFastifyCli({ folder, addDependencies }) {
  const copy = join(folder, 'fastify-cli')
  cpSync(example, copy, { recursive: true })
  addDependencies(manifestOf(copy))
  const [program, ...args] = manifestOf(copy).scripts.start.split(' ')
  assert.equal(program, 'fastify', 'the start script runs fastify-cli')
  const cli = join(folder, 'node_modules/fastify-cli/cli.js')
  const env = { FASTIFY_PORT: '0', FASTIFY_ADDRESS: '127.0.0.1' }
  const server = await spawnApp(cli, { args, cwd: copy, env, timeout: patience })
  try {
    await checkAnswers(server.url)
  } finally {
    await server.stop()
  }
}

async function checkAnswers(url) {
  const ask = async (path, token) => {
    const headers = { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
    const response = await fetch(url + path, { headers, signal: AbortSignal.timeout(patience) })
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      body: await response.json(),
    }
  }
  const isProblem = async (answer, status, code) => {
    const { type, body, ...rest } = await answer
    assert.deepEqual({ ...rest, type, code: body.code }, { status, type: 'application/problem+json', code })
  }
  assert.deepEqual((await ask('/')).body, { name: 'notes' })
  assert.deepEqual((await ask('/notes/count')).body, { count: 1 })
  assert.equal((await ask('/notes', 'alice-token')).body.owner, 'alice')
  assert.equal((await ask('/api/settings/public')).status, 200)
  assert.equal((await ask('/api/settings', 'admin-token')).status, 200)
  await isProblem(ask('/notes'), 401, 'UNAUTHORIZED')
  await isProblem(ask('/missing'), 401, 'UNAUTHORIZED')
  await isProblem(ask('/notes/2', 'alice-token'), 404, 'NOT_FOUND')
  assert.equal((await ask('/missing', 'alice-token')).status, 404)
  const { status, type } = await ask('/%zz', 'alice-token') // the router refuses it: answered by the server's options
  assert.deepEqual({ status, type }, { status: 400, type: 'application/problem+json' })
}
