// Creates an application with the packed command, as `npm create` does, on the packed packages; its tests must pass, and it
// must run.
import { strict as assert } from 'node:assert'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { capture, npmInstall } from '../command.mjs'
import { manifestOf } from '../files.mjs'
import { spawnApp } from '../../test-support/dist/spawn-app.js'

const patience = 120_000 // ms

const password = 'a password for this check'

/** Throws with the output of what fails. Packages are `{ filename, manifest }`; `command` is one of them. */
export async function checkCreate(folder, { command, packages }) {
  const created = await create(folder, command)
  useTarballs(created, packages)
  await npmInstall([], { cwd: created })
  linkDriver(created)
  await capture('npm', ['test'], { cwd: created, env: { ...process.env, ...unset } })
  const [program, ...args] = manifestOf(created).scripts.start.split(' ')
  assert.equal(program, 'node', 'the start script runs what npm test has compiled')
  const [entry, ...rest] = args
  const server = await spawnApp(entry, {
    args: rest,
    cwd: created,
    env: { ...unset, PORT: '0', DEVELOPMENT_PASSWORD: password },
    timeout: patience,
  })
  let code
  try {
    await checkAnswers(server.url)
  } finally {
    code = (await server.stop()).code
  }
  assert.equal(code, 0, 'the application closes at a signal')
  console.log('created an application: its tests pass, and it answers')
}

/** What the machine of a developer who has just begun does not have. */
const unset = { HOST: undefined, NODE_ENV: undefined, NODE_TEST_CONTEXT: undefined }

async function create(folder, { filename, manifest }) {
  const empty = join(folder, 'create')
  mkdirSync(empty)
  await npmInstall(['--prefix', empty, filename])
  const [name] = Object.keys(manifest.bin)
  await capture('npm', ['exec', '--prefix', empty, '--', name, 'my-app', '--no-install'], { cwd: empty })
  return join(empty, 'my-app')
}

/** Nothing of ours is published yet. The driver of SQLite is linked: npm would compile it for minutes. */
function useTarballs(created, packages) {
  const manifest = manifestOf(created)
  const tarballs = packages.map(({ filename, manifest: { name } }) => [name, `file:${filename}`])
  const isNeeded = ([name]) => name in manifest.dependencies
  const dependencies = { ...manifest.dependencies, ...Object.fromEntries(tarballs.filter(isNeeded)) }
  delete dependencies['better-sqlite3']
  writeFileSync(join(created, 'package.json'), JSON.stringify({ ...manifest, dependencies }, null, 2))
}

function linkDriver(created) {
  if (isBuiltin('node:sqlite')) return
  symlinkSync(
    realpathSync('scripts/better-sqlite3'),
    join(created, 'node_modules/better-sqlite3'),
    'junction',
  )
}

async function checkAnswers(url) {
  const ask = (path, init) =>
    fetch(url + path, { redirect: 'manual', signal: AbortSignal.timeout(patience), ...init })
  assert.equal((await ask('/api/notes')).status, 200)
  const refused = await ask('/api/notes', { method: 'POST' })
  assert.equal(refused.status, 401)
  assert.equal(refused.headers.get('content-type'), 'application/problem+json')
  const signIn = await ask('/login', {
    method: 'POST',
    body: new URLSearchParams({ user: 'admin', password }),
  })
  const [cookie] = signIn.headers.getSetCookie()[0].split(';')
  const page = await ask('/settings/manage', { headers: { cookie, accept: 'text/html' } })
  assert.equal(page.status, 200)
  assert.match(await page.text(), /my-app/)
}
