/** The packages of the databases are optional: what happens when one is missing, or not for this Node. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nodeSqlite } from '@fastify-modular/core/internal'
import { type Test, test } from 'tap'
import { set, silentLog } from '../contract/case.ts'
import { checkDriver } from '#src/store/sqlite/connection.js'
import { sqlite } from '../support/stores.js'

const here = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of this package as an application has it that installed no database. */
async function installWithoutDrivers(t: Test): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'settings-'))
  t.teardown(() => rm(root, { recursive: true }))
  const modules = join(root, 'node_modules')
  for (const name of ['@fastify-modular/core', 'drizzle-orm']) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(await realpath(join(here, 'node_modules', name)), join(modules, name))
  }
  const copy = join(modules, '@fastify-modular/settings')
  await cp(join(here, 'dist'), join(copy, 'dist'), { recursive: true })
  await cp(join(here, 'package.json'), join(copy, 'package.json'))
  return root
}

/** Opens a store in a process of its own; returns the code and message of its failure. */
async function failureOfOpening(root: string, store: string, create: string): Promise<string> {
  const entry = join(root, `${store}.mjs`)
  await writeFile(
    entry,
    `import { ${store} } from '@fastify-modular/settings/${store}'
    await ${create}.open({ log: console }).catch((error) => console.log(error.code, error.message))`,
  )
  const { stdout, stderr, status } = spawnSync(process.execPath, [entry], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  return status === 0 ? stdout.trim() : `ended with ${status}: ${stderr}`
}

test('a store whose driver is not installed says what to install (FMOD_SETTINGS_DRIVER_MISSING)', async (t) => {
  const root = await installWithoutDrivers(t)
  const missing = /^FMOD_SETTINGS_DRIVER_MISSING .*npm install/
  const named = "sqlite({ file: 'x.db', driver: 'better-sqlite3' })"
  t.match(await failureOfOpening(root, 'sqlite', named), missing)
  const chosen = await failureOfOpening(root, 'sqlite', "sqlite({ file: ':memory:' })")
  t.match(
    chosen,
    nodeSqlite() ? /^$/ : missing,
    'without better-sqlite3, node:sqlite is chosen where there is one',
  )
  t.match(
    await failureOfOpening(root, 'postgres', "postgres({ connectionString: 'postgres://127.0.0.1:1/x' })"),
    missing,
  )
})

const needsBoth = {
  skip: nodeSqlite() && loadsBetterSqlite() ? false : 'needs node:sqlite (Node 22.13 or newer)',
}

test('both drivers of SQLite read and write the same file', needsBoth, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'settings-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'settings.db')
  const [node, better] = [sqlite({ file, driver: 'node' }), sqlite({ file, driver: 'better-sqlite3' })]
  await node.open({ log: silentLog })
  await better.open({ log: silentLog })
  await set(node, 'a', '1')
  await set(better, 'b', '2')
  t.same(await node.shared.read(), await better.shared.read())
  await node.close()
  await better.close()
})

/** Dependencies that were installed by another Node have the binary of that one. */
function loadsBetterSqlite(): boolean {
  try {
    createRequire(import.meta.url)('better-sqlite3')
    return true
  } catch {
    return false
  }
}

test('better-sqlite3 13 is refused on Node 20 before it is loaded (FMOD_SETTINGS_DRIVER_UNSUPPORTED)', async (t) => {
  const root = await installWithoutDrivers(t)
  const driver = join(root, 'node_modules/better-sqlite3')
  await mkdir(driver)
  await writeFile(
    join(driver, 'package.json'),
    '{ "name": "better-sqlite3", "version": "13.2.0", "main": "index.js" }',
  )
  await writeFile(join(driver, 'index.js'), 'process.kill(process.pid, "SIGSEGV")')
  const failure = await failureOfOpening(root, 'sqlite', "sqlite({ file: 'x.db' })")
  if (Number.parseInt(process.versions.node, 10) < 22) t.match(failure, /^FMOD_SETTINGS_DRIVER_UNSUPPORTED/)
  else t.match(failure, /^ended with null/, 'Node 22 loads it')
})

test('better-sqlite3 without its binary is one named error with the way out (FMOD_SETTINGS_DRIVER_UNSUPPORTED)', async (t) => {
  const root = await installWithoutDrivers(t)
  const isNode20 = Number.parseInt(process.versions.node, 10) < 22
  const wrapper = createRequire(createRequire(import.meta.url).resolve('better-sqlite3'))
  const driver = dirname(wrapper.resolve(`better-sqlite3-${isNode20 ? 12 : 13}/package.json`))
  const isNeeded = (path: string) => !/\.node$|[/\\](?:deps|src|obj\.target|\.deps)$/.test(path)
  await cp(driver, join(root, 'node_modules/better-sqlite3'), { recursive: true, filter: isNeeded })
  const bindings = join(driver, '../bindings') // version 12 looks for the binary by it
  if (existsSync(bindings)) await symlink(await realpath(bindings), join(root, 'node_modules/bindings'))
  const failure = await failureOfOpening(root, 'sqlite', "sqlite({ file: 'x.db' })")
  t.match(failure, /^FMOD_SETTINGS_DRIVER_UNSUPPORTED /)
  t.match(
    failure,
    isNode20 ? /g\+\+, make and python3.* or use Node 22 or newer/ : /better-sqlite3@13.*driver: 'node'/,
  )
})

test('each pair of driver and Node that works is let through', async (t) => {
  const unsupported = { code: 'FMOD_SETTINGS_DRIVER_UNSUPPORTED' }
  t.throws(() => checkDriver('13.0.0', '20.19.0'), unsupported)
  t.throws(() => checkDriver('14.1.0', '21.7.3'), unsupported)
  for (const [driver, node] of [
    ['12.11.1', '20.20.2'],
    ['12.4.0', '24.0.0'],
    ['13.2.0', '22.0.0'],
    ['13.2.0', '26.10.0'],
  ] as const) {
    t.doesNotThrow(() => checkDriver(driver, node), `${driver} on ${node}`)
  }
})
