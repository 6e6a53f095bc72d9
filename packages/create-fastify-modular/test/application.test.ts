/** What the command creates: it compiles, passes its own tests, and answers as its README says. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readEnvironment } from '@fastify-modular/settings'
import { testDatabase } from '@fastify-modular/test-support/postgres'
import { rawRequest } from '@fastify-modular/test-support/raw-http'
import { spawnApp, spawnNode } from '@fastify-modular/test-support/spawn-app'
import { until } from '@fastify-modular/test-support/until'
import { test } from 'tap'
import { create } from './command.js'

const root = join(import.meta.dirname, '..')
const tsc = join(root, 'node_modules/typescript/bin/tsc')
const cli = join(root, 'node_modules/@fastify-modular/cli/dist/main.js')

/** Within this package, so that the application finds what it imports. */
async function createIn(parent: string, database: string): Promise<string> {
  const folder = join(parent, database)
  const { code, errors } = await create([folder, '--no-install', '--database', database])
  if (code !== 0) throw new Error(errors)
  return folder
}

test('what is created', async (t) => {
  const parent = mkdtempSync(join(import.meta.dirname, 'application-'))
  t.teardown(() => rmSync(parent, { recursive: true, force: true }))
  const folder = await createIn(parent, 'sqlite')
  const onPostgres = await createIn(parent, 'postgres')
  const env = {
    PORT: '0',
    HOST: undefined,
    TRUST_PROXY: undefined,
    NODE_ENV: undefined,
    DATABASE_URL: undefined,
    DEVELOPMENT_PASSWORD: undefined,
    SESSION_SECRET: undefined,
    NODE_TEST_CONTEXT: undefined,
  }
  const signInAt = async (url: string, user: string, password: string): Promise<{ cookie: string }> => {
    const answer = await fetch(`${url}/login?returnTo=%2Fsettings%2Fmanage`, {
      method: 'POST',
      body: new URLSearchParams({ user, password }),
      redirect: 'manual',
    })
    t.equal(answer.headers.get('location'), '/settings/manage')
    return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  }

  await t.test('it compiles, for both databases', async (t) => {
    cpSync(join(onPostgres, 'src/store.ts'), join(folder, 'src/postgres-store.ts')) // one run of the compiler for both
    const { status, stdout } = spawnSync(process.execPath, [tsc], { cwd: folder, encoding: 'utf8' })
    t.equal(status, 0, stdout)
  })

  await t.test('its own tests pass', async (t) => {
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const [, directory = '', args = ''] = /^cd (\S+) && node (.*)$/.exec(scripts.test) ?? [] // no glob: cmd.exe has none
    const [flag = '', ...flags] = args.split(' ')
    const tests = spawnNode(flag, { args: flags, cwd: join(folder, directory), env })
    t.equal((await tests.exited).code, 0, tests.log())
    t.match(tests.log(), /after a hundred sign-ins for one account/)
  })

  await t.test('it answers as its README says, lets people sign in, and ends', async (t) => {
    const app = await spawnApp('dist/src/main.js', { cwd: folder, env })
    t.teardown(() => app.stop())
    t.notMatch(app.log(), '"level":40', 'nothing to warn of')
    await app.printed(/The application listens at \S+\n+$/) // last: what people need next
    const readme = readFileSync(join(folder, 'README.md'), 'utf8')
    const commands = [...readme.matchAll(/^curl -i (?:-X (\w+) )?http:\/\/127\.0\.0\.1:3000(\S*) +# (\d+)/gm)]
    t.equal(commands.length, 2)
    for (const [, method = 'GET', path = '', status] of commands)
      t.equal((await fetch(app.url + path, { method })).status, Number(status), `${method} ${path}`)

    const port = Number(new URL(app.url).port)
    const { status } = await rawRequest({ port }, { method: 'GET', target: '*api/notes', headers: {} })
    t.equal(status, 401, 'a target that is no path has no session')

    const [, password = ''] = await app.printed(/with the password (\S+)/)
    t.ok(password.length >= 16)
    const added = await fetch(`${app.url}/api/notes`, {
      method: 'POST',
      headers: { ...(await signInAt(app.url, 'writer', password)), 'content-type': 'application/json' },
      body: '{"text":"Milk"}',
    })
    t.equal(added.status, 201)
    const headers = { ...(await signInAt(app.url, 'admin', password)), accept: 'text/html' }
    t.equal((await fetch(`${app.url}/settings/manage`, { headers })).status, 200)
    t.match(await (await fetch(app.url, { headers })).text(), /href="\/settings\/manage"/)

    const body = new URLSearchParams({ user: 'typed-by-mistake', password: 'wrong' })
    t.equal((await fetch(`${app.url}/login`, { method: 'POST', body })).status, 401)
    await app.printed(/"audit":"sign-in\.failure","address":"127\.0\.0\.1"/)
    t.notMatch(app.log(), 'typed-by-mistake')
    t.same(await app.stop(), { code: 0, signal: null })
  })

  await t.test('doctor finds nothing wrong, and what was broken on purpose', async (t) => {
    const doctor = async (variables: Readonly<Record<string, string>> = {}) => {
      const command = spawnNode(cli, { args: ['doctor'], cwd: folder, env: { ...env, ...variables } })
      const { code } = await command.exited
      return { code, log: command.log() }
    }
    t.match(await doctor(), { code: 0, log: /^nothing wrong\n$/m })
    const fresh = { DATABASE_FILE: 'data/none/settings.db' }
    t.match(await doctor(fresh), { code: 3, log: /missing migration/ })
    t.notOk(existsSync(join(folder, 'data/none')), 'a command makes no file')
    const served = { NODE_ENV: 'production', SM_SETTINGS_OVERRIDES: '{"notes.showm":5}' }
    const broken = await doctor(served)
    t.match(broken, { code: 3, log: /cannot be served +src\/development-sign-in\.ts/ })
    t.match(broken.log, /unknown override +.*notes\.showm/, 'one finding does not hide another one')
  })

  await t.test(
    'its accounts for development refuse production, and addresses that others can reach',
    async (t) => {
      const { developmentSignIn }: { developmentSignIn(env: object, surroundings: object): unknown } =
        await import(pathToFileURL(join(folder, 'dist/src/development-sign-in.js')).href)
      const report = (problem: string) => {
        throw new Error(problem)
      }
      const refusal =
        /development-sign-in\.ts is not for production, not behind a proxy \(TRUST_PROXY\), and for no HOST/
      for (const refused of [
        { NODE_ENV: 'production' },
        { HOST: '0.0.0.0' },
        { HOST: '::' },
        { HOST: '127.0.0.1.evil.test' },
        { NODE_ENV: 'test', HOST: '192.168.1.5' },
      ])
        t.throws(
          () => developmentSignIn(refused, { trustProxy: '', report }),
          refusal,
          JSON.stringify(refused),
        )
      writeFileSync(join(folder, 'proxies'), '10.0.0.5\n')
      const unfit = /TRUST_PROXY.*the addresses of the proxies, such as 10\.0\.0\.5/
      const { serverSettings } = await import(pathToFileURL(join(folder, 'dist/src/server-settings.js')).href)
      const read = (value: string) => {
        process.env['TRUST_PROXY'] = value
        return readEnvironment(serverSettings)
      }
      t.match(read('10.0.0.5'), { trustProxy: '10.0.0.5' })
      for (const value of ['10.0.0.5,3', '0x1', '10.3', '010.0.0.5'])
        t.throws(() => read(value), { message: unfit }, value)
      delete process.env['TRUST_PROXY'] // processes inherit it
      const refused = [
        [{ HOST: '0.0.0.0' }, refusal],
        [{ TRUST_PROXY: '127.0.0.1' }, refusal],
        [{ TRUST_PROXY_FILE: 'proxies' }, refusal],
        [{ SM_SETTINGS_OVERRIDES: '{"server.trust_proxy":"fd00::5, loopback"}' }, refusal],
        [{ TRUST_PROXY: '1' }, unfit],
        [{ NODE_ENV: 'Production' }, /NODE_ENV must be unset, development, test or production\./],
      ] as const
      for (const [variables, message] of refused) {
        const app = spawnNode('dist/src/main.js', { cwd: folder, env: { ...env, ...variables } })
        t.equal((await app.exited).code, 1, JSON.stringify(variables))
        t.match(app.log(), message)
      }
    },
  )

  await t.test(
    'it starts without sessions where their file is cut off, and replaces the file as a whole',
    async (t) => {
      const file = join(folder, 'data/sessions.json')
      mkdirSync(join(folder, 'data'), { recursive: true })
      writeFileSync(file, '[["id",{"cook')
      linkSync(file, join(folder, 'data/before'))
      const app = await spawnApp('dist/src/main.js', { cwd: folder, env })
      t.teardown(() => app.stop())
      const [, password = ''] = await app.printed(/with the password (\S+)/)
      await signInAt(app.url, 'admin', password)
      t.match(JSON.parse(readFileSync(file, 'utf8')), [[String, { account: 'admin' }]])
      t.equal(readFileSync(join(folder, 'data/before'), 'utf8'), '[["id",{"cook')
    },
  )

  await t.test('what keeps it from starting is printed, and its code is 1', async (t) => {
    const other = await spawnApp('dist/src/main.js', { cwd: folder, env })
    t.teardown(() => other.stop())
    const causes: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ PORT: String(other.port) }, /EADDRINUSE/],
      [{ SM_SETTINGS_OVERRIDES: '{"notes.shown":-1}' }, /notes\.shown/],
    ]
    for (const [cause, printed] of causes) {
      const refused = spawnNode('dist/src/main.js', { cwd: folder, env: { ...env, ...cause } })
      t.match(await refused.exited, { code: 1 })
      t.match(refused.log(), printed)
    }
  })

  await t.test(
    'npm run dev shows a change at once, in one terminal; password and session stay',
    async (t) => {
      const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const [program, ...args] = scripts.dev.split(' ')
      t.equal(program, 'tsx')
      const app = await spawnApp(join(root, 'node_modules/tsx/dist/cli.mjs'), { cwd: folder, env, args })
      t.teardown(() => app.stop())
      const [, password = ''] = await app.printed(/with the password (\S+)/)
      const headers = await signInAt(app.url, 'admin', password)
      const home = join(folder, 'src/home.ts')
      const changed = readFileSync(home, 'utf8').replace('Your preferences', 'What you prefer')
      const save = () => writeFileSync(home, changed)
      save()
      const saving = setInterval(save, 1000) // tsx may not have come to watch the file yet, and does not say when it has
      t.teardown(() => clearInterval(saving))
      await app.printed(/Restarting/)
      clearInterval(saving)
      const lastPrinted = (pattern: RegExp) => app.log().match(pattern)?.at(-1) ?? ''
      const addressOf = () => lastPrinted(/(?<=The application listens at )\S+/g)
      const page = async () => {
        const answer = await fetch(addressOf(), { headers }).catch(() => null) // the one that ends
        return (await answer?.text()) ?? ''
      }
      await until(async () => (await page()).includes('What you prefer'))
      t.match(await page(), /Sign out/)
      t.equal(lastPrinted(/(?<=with the password )\S+/g), password)
      await signInAt(addressOf(), 'writer', password)
    },
  )

  await t.test('without the address of its PostgreSQL it says which variable is missing', async (t) => {
    const module: { createStore(env: object): unknown } = await import(
      pathToFileURL(join(folder, 'dist/src/postgres-store.js')).href
    )
    t.throws(() => module.createStore({}), /Set DATABASE_URL, for example to postgres:\/\//)
  })

  await t.test('it keeps settings in PostgreSQL', async (t) => {
    cpSync(join(folder, 'dist/src/postgres-store.js'), join(folder, 'dist/src/store.js'))
    const app = await spawnApp('dist/src/main.js', {
      cwd: folder,
      env: { ...env, DATABASE_URL: (await testDatabase(t)).url },
    })
    t.teardown(() => app.stop())
    t.equal((await fetch(`${app.url}/api/settings/public`)).status, 200)
    t.same(await app.stop(), { code: 0, signal: null })
  })
})
