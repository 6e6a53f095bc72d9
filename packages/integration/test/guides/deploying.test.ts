/** What the guide about deploying makes of the template, run as it says: the steps of its image, two instances, PostgreSQL. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startPostgres } from '@fastify-modular/test-support/postgres'
import { spawnApp, spawnNode } from '@fastify-modular/test-support/spawn-app'
import { until } from '@fastify-modular/test-support/until'
import pg from 'pg'
import { test } from 'tap'
import { blockOf, changesOf, filesOf, guide } from './guide-files.js'

/** What the test uses of `accounts.ts`, as the guide shows it. */
interface Accounts {
  readonly accountsTable: string
  accountsIn(query: (text: string, values?: readonly unknown[]) => Promise<object[]>): {
    check(id: string, password: string): Promise<unknown>
    save(caller: object, password: string): Promise<void>
    remove(id: string): Promise<void>
  }
}

const root = new URL('../../../../', import.meta.url)
const fromRoot = createRequire(new URL('package.json', root))
const cli = createRequire(import.meta.url)
  .resolve('@fastify-modular/cli/package.json')
  .replace('package.json', 'dist/main.js')
const run = promisify(execFile)

const text = guide('deploying')
const lines = blockOf(text, 'dockerfile').split('\n')
const instructions = (name: string): string[] =>
  lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1))

/** Inside of this package, so that its packages are found, and where nothing looks for tests. */
const data = fileURLToPath(new URL('packages/integration/data/', root))
mkdirSync(data, { recursive: true })
const folder = mkdtempSync(join(data, 'deploying-'))
const build = join(folder, 'build')
const image = join(folder, 'image')

test('the template, deployed as the guide says', async (t) => {
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const template of ['template', 'template-postgres'])
    cpSync(new URL(`packages/create-fastify-modular/${template}`, root), build, { recursive: true })

  await t.test('its changes start from what the template has', (t) => {
    for (const { name, before } of changesOf(text))
      t.equal(before, readFileSync(join(build, name), 'utf8'), name)
    t.end()
  })

  await t.test('its accounts and sessions are those of the example', (t) => {
    const files = filesOf(text)
    for (const name of ['accounts.ts', 'session-store.ts'])
      t.equal(files[`src/${name}`], readFileSync(new URL(`packages/host-example/src/${name}`, root), 'utf8'))
    t.end()
  })

  await t.test('the image is built: what its second stage copies is all that it has', async (t) => {
    rmSync(join(build, 'src/development-sign-in.ts'))
    for (const [name, code] of Object.entries(filesOf(text))) writeFileSync(join(build, name), code)
    t.same(instructions('RUN'), ['npm ci', 'npm run build', 'npm prune --omit=dev'])
    const { scripts } = JSON.parse(readFileSync(join(build, 'package.json'), 'utf8'))
    t.equal(scripts.build, 'tsc')
    await run(process.execPath, [fromRoot.resolve('typescript/bin/tsc')], { cwd: build }).catch(
      (error: { stdout: string }) => t.fail(error.stdout),
    )
    const copied = instructions('COPY').flatMap((line) =>
      [...line.matchAll(/ \/app\/(\S+)/g)].map(([, name = '']) => name),
    )
    const own = ['package.json', 'fastify-modular.config.js', 'access.json', 'dist']
    t.same(copied.toSorted(), [...own, 'node_modules'].toSorted())
    for (const name of own) cpSync(join(build, name), join(image, name), { recursive: true })
  })

  const built = (name: string) => import(pathToFileURL(join(build, 'dist/src', name)).href)
  const { accountsIn, accountsTable } = (await built('accounts.js')) as Accounts
  const { sessionTables } = (await built('session-store.js')) as { sessionTables: readonly string[] }

  await t.test('its tables are those of its program', (t) => {
    const plain = (sql: string) =>
      sql
        .replaceAll('if not exists ', '')
        .replaceAll(/[\s;]+/g, ' ')
        .trim()
    t.equal(plain(blockOf(text, 'sql')), plain([accountsTable, ...sessionTables].join(';\n')))
    t.end()
  })

  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  const pool = new pg.Pool({ connectionString: postgres.url })
  pool.on('error', () => {}) // the server is killed below
  await pool.query(blockOf(text, 'sql'))

  const accounts = accountsIn(async (text, values = []) => (await pool.query(text, [...values])).rows)
  const eli = { id: 'eli', name: 'Eli', permissions: ['Notes.Write'] }

  const [, entry = '', ...rest] = ['', ...JSON.parse(instructions('CMD')[0] ?? '').slice(1)]
  const env = {
    HOME: folder,
    PORT: '0',
    NODE_TEST_CONTEXT: undefined,
    ...Object.fromEntries((instructions('ENV')[0] ?? '').split(' ').map((pair) => pair.split('='))),
    HOST: '127.0.0.1', // only loopback in tests
    DATABASE_URL: postgres.url,
    SESSION_SECRET: 'thirty-two characters, or more of them',
    TRUST_PROXY: '127.0.0.1',
  }
  t.same([entry, ...rest], ['--enable-source-maps', 'dist/src/main.js'])

  await t.test('a release migrates, compares who may call what, and finds nothing wrong', async (t) => {
    const release = text.slice(text.indexOf('## A release'))
    const steps = [...release.matchAll(/^node_modules\/\.bin\/fastify-modular (.+?) +#/gm)]
    t.same(
      steps.map(([, step]) => step),
      ['migrate --plan', 'migrate', 'access --check', 'doctor'],
    )
    const codes: (number | null)[] = []
    for (const [, step = ''] of steps) {
      const command = spawnNode(cli, { args: step.split(' '), cwd: image, env })
      codes.push((await command.exited).code)
      t.comment(command.log())
    }
    t.same(codes, [3, 0, 0, 0])
  })

  const start = () => spawnApp('dist/src/main.js', { cwd: image, env })
  const signIn = (url: string, user: string, password: string) =>
    fetch(`${url}/login`, {
      method: 'POST',
      headers: { 'x-forwarded-proto': 'https' },
      body: new URLSearchParams({ user, password }),
      redirect: 'manual',
    })
  const cookieOf = (answer: Response) => answer.headers.getSetCookie()[0] ?? ''
  const addNote = (url: string, cookie: string) =>
    fetch(`${url}/api/notes`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json', 'x-forwarded-proto': 'https' },
      body: '{"text":"Milk"}',
    })

  await t.test('its program saves an account', async (t) => {
    const [, caller = ''] = /save-account\.js '(.*)'$/m.exec(text) ?? []
    await run(process.execPath, ['dist/src/save-account.js', caller], {
      cwd: image,
      env: { ...process.env, DATABASE_URL: postgres.url, PASSWORD: 'of Ada' },
    })
    t.same(await accounts.check('ada', 'of Ada'), JSON.parse(caller))
    await accounts.save(eli, 'of Eli')
  })

  await t.test('it does not start without what it needs', async (t) => {
    for (const name of ['DATABASE_URL', 'SESSION_SECRET']) {
      const app = spawnNode('dist/src/main.js', { cwd: image, env: { ...env, [name]: undefined } })
      t.equal((await app.exited).code, 1, name)
      t.match(app.log(), /Set DATABASE_URL and SESSION_SECRET\./)
    }
  })

  await t.test(
    'people sign in with the accounts of the table; cookies are Secure behind the proxy',
    async (t) => {
      const app = await start()
      t.teardown(() => app.stop())
      for (const [user, password] of [
        ['ada', 'of Eli'],
        ['nobody', 'of Ada'],
        ['__proto__', ''],
      ] as const)
        t.equal((await signIn(app.url, user, password)).status, 401, user)
      const answer = await signIn(app.url, 'ada', 'of Ada')
      t.equal(answer.status, 303)
      t.match(cookieOf(answer), /; Secure/)
    },
  )

  await t.test('a session holds at every instance, outlives them, and ends everywhere', async (t) => {
    const [one, two] = await Promise.all([start(), start()])
    t.teardown(() => Promise.all([one.stop(), two.stop()]))
    const [cookie = ''] = cookieOf(await signIn(one.url, 'eli', 'of Eli')).split(';')
    t.equal((await addNote(two.url, cookie)).status, 201)
    const { rows } = await pool.query('select id, data from sessions')
    t.notOk(
      rows.some(({ id }) => decodeURIComponent(cookie).includes(id)),
      'the table knows hashes alone',
    )
    t.notMatch(JSON.stringify(rows), 'Notes.Write', 'nor rights')

    t.same(await two.stop(), { code: 0, signal: null })
    const later = await start()
    t.teardown(() => later.stop())
    t.equal((await addNote(later.url, cookie)).status, 201)
    const headers = { cookie, 'x-forwarded-proto': 'https' }
    await fetch(`${one.url}/logout`, { method: 'POST', headers, redirect: 'manual' })
    t.equal((await addNote(later.url, cookie)).status, 401)
  })

  await t.test(
    'who loses a permission, the account or the sessions loses it at the next request',
    async (t) => {
      const app = await start()
      t.teardown(() => app.stop())
      const signInAsEli = async () => cookieOf(await signIn(app.url, 'eli', 'of Eli'))
      const cookies = [await signInAsEli(), await signInAsEli()]
      const statuses = async () => {
        const answers = await Promise.all(cookies.map((cookie) => addNote(app.url, cookie)))
        return answers.map(({ status }) => status)
      }
      t.same(await statuses(), [201, 201])
      const keep = (permissions: string[]) =>
        pool.query('update accounts set caller = $1 where id = $2', [
          JSON.stringify({ ...eli, permissions }),
          'eli',
        ])
      await keep([])
      t.same(await statuses(), [403, 403])
      await keep(eli.permissions)
      t.same(await statuses(), [201, 201])
      const [, statement = ''] = /`(delete from sessions where account = \$1)`/.exec(text) ?? []
      const ada = cookieOf(await signIn(app.url, 'ada', 'of Ada'))
      t.equal((await pool.query(statement, ['eli'])).rowCount, 2)
      t.same(await statuses(), [401, 401])
      t.equal((await addNote(app.url, ada)).status, 201)
      cookies.push(await signInAsEli())
      await accounts.remove('eli')
      t.same(await statuses(), [401, 401, 401])
    },
  )

  await t.test('the probes of the manifest answer, and its times fit those of the process', async (t) => {
    const app = await start()
    t.teardown(() => app.stop())
    const { spec } = fromRoot('yaml').parse(blockOf(text, 'yaml')).spec.template
    const [container] = spec.containers
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path, port } = container[probe].httpGet
      t.equal((await fetch(app.url + path)).status, 200, probe)
      t.equal(port, container.ports[0].containerPort)
    }
    const [, delay] = /delay: ([\d_]+)/.exec(readFileSync(join(build, 'src/main.ts'), 'utf8')) ?? []
    const [, sleep] = container.lifecycle.preStop.exec.command
    t.ok(spec.terminationGracePeriodSeconds > Number(sleep) + Number(delay?.replace('_', '')) / 1000)
    const set = container.env.map(({ name }: { name: string }) => name)
    t.ok(
      [...set, 'DATABASE_URL', 'SESSION_SECRET'].every((name) => name in env),
      'variables that it reads',
    )
  })

  await t.test(
    'while PostgreSQL is down it lives and says so, and sessions are answered with 503',
    async (t) => {
      const app = await start()
      t.teardown(() => app.stop())
      const admin = cookieOf(await signIn(app.url, 'ada', 'of Ada'))
      const ready = async () => (await fetch(`${app.url}/health/ready`)).text()
      t.equal(await ready(), '{"status":"ok","settings":"ready"}')
      await postgres.kill()
      await until(async () => (await ready()) === '{"status":"unavailable"}')
      t.equal((await fetch(`${app.url}/health/live`)).status, 200)
      t.equal((await fetch(`${app.url}/api/notes`)).status, 200)
      t.equal((await addNote(app.url, admin)).status, 503)
      await postgres.restart()
      await until(async () => (await ready()) === '{"status":"ok","settings":"ready"}')
      t.equal((await addNote(app.url, admin)).status, 201)
    },
  )
  await pool.end()
})
