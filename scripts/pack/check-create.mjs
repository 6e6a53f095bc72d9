// Creates both applications with the packed command, as `npm create` does, on the packed packages: their tests must pass, and
// they must run in development and as `npm start` runs them, and the command line finds nothing wrong with them.
import { strict as assert } from 'node:assert'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { capture, npmInstall } from '../command.mjs'
import { manifestOf } from '../files.mjs'
import { startPostgres } from '../../test-support/dist/postgres.js'
import { spawnApp } from '../../test-support/dist/spawn-app.js'

const patience = 120_000 // ms

const password = 'a password for this check'

/** Throws with the output of what fails. Packages are `{ filename, manifest }`; `command` is one of them. */
export async function checkCreate(folder, { command, packages }) {
  const home = join(folder, 'create')
  mkdirSync(home)
  await npmInstall(['--prefix', home, command.filename])
  const [name] = Object.keys(command.manifest.bin)
  const postgres = await startPostgres()
  try {
    const { url } = await postgres.createDatabase()
    for (const [database, env] of Object.entries({ sqlite: {}, postgres: { DATABASE_URL: url } })) {
      const args = [
        'exec',
        '--prefix',
        home,
        '--',
        name,
        `my-${database}`,
        '--no-install',
        '--database',
        database,
      ]
      await capture('npm', args, { cwd: home })
      const created = join(home, `my-${database}`)
      useTarballs(created, packages)
      await npmInstall([], { cwd: created })
      linkDriver(created)
      await checkCreated(created, { ...unset, ...env, PORT: '0', DEVELOPMENT_PASSWORD: password })
    }
  } finally {
    await postgres.stop()
  }
  console.log('created an application on each database: their tests pass, and they answer')
}

async function checkCreated(created, env) {
  await capture('npm', ['test'], { cwd: created, env: { ...process.env, ...unset } })
  const { dev, start } = manifestOf(created).scripts
  for (const script of [dev, start]) {
    const [program, ...args] = script.replace(/^tsx /, 'node node_modules/tsx/dist/cli.mjs ').split(' ')
    assert.equal(program, 'node')
    const [entry, ...rest] = args
    const server = await spawnApp(entry, { args: rest, cwd: created, env, timeout: patience })
    let code
    try {
      await checkAnswers(server.url, manifestOf(created).name)
    } finally {
      code = (await server.stop()).code
    }
    assert.equal(code, 0, 'the application closes at a signal')
  }
  const said = await capture('npx', ['fastify-modular', 'doctor'], {
    cwd: created,
    env: { ...process.env, ...env },
  })
  assert.equal(said, 'nothing wrong\n')
}

/** What the machine of a developer who has just begun does not have. */
const unset = { HOST: undefined, NODE_ENV: undefined, NODE_TEST_CONTEXT: undefined }

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

async function checkAnswers(url, name) {
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
  assert.ok((await page.text()).includes(name))
}
