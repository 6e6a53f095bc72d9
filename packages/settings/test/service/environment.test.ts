/** `env`: values that variables and the files which they name fix. */
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Caller } from '@fastify-modular/core'
import {
  readEnvironment,
  setting,
  type SettingDefinition,
  SettingScope,
  settings,
} from '@fastify-modular/settings'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { as, createApp, rejection } from '../support/app.ts'
import { memoryStore } from '../support/stores.js'

const { Application, System, User } = SettingScope

const mail = {
  host: setting.text('mail.host', {
    displayName: 'Host',
    scope: System,
    env: 'T_SMTP_HOST',
    default: 'localhost',
  }),
  port: setting.number('mail.port', {
    displayName: 'Port',
    scope: System,
    env: 'T_SMTP_PORT',
    default: 25,
    max: 65535,
  }),
  tls: setting.bool('mail.tls', { displayName: 'TLS', scope: Application, env: 'T_SMTP_TLS' }),
  routes: setting.json('mail.routes', { displayName: 'Routes', scope: Application, env: 'T_SMTP_ROUTES' }),
  level: setting.select('log.level', {
    displayName: 'Level',
    scope: Application,
    env: 'T_LEVEL',
    allowedValues: ['info', 'debug'],
    default: 'info',
  }),
  password: setting.password('mail.password', {
    displayName: 'Password',
    scope: System,
    env: 'T_SMTP_PASSWORD',
    sensitive: true,
  }),
  theme: setting.text('app.theme', { displayName: 'Theme', scope: User, env: 'T_THEME', default: 'light' }),
}

type Variables = Readonly<Record<string, string>>

function setVariables(t: { teardown(undo: () => unknown): unknown }, variables: Variables): void {
  Object.assign(process.env, variables)
  t.teardown(() => Object.keys(variables).forEach((name) => delete process.env[name]))
}

function startWith(
  t: Parameters<typeof createApp>[0],
  variables: Variables,
  definitions: readonly SettingDefinition[] = Object.values(mail),
): Promise<FastifyInstance> {
  setVariables(t, variables)
  return createApp(t, { definitions })
}

test('a variable is the value: decoded by type, locked, above what is stored', async (t) => {
  const store = memoryStore()
  const before = await createApp(t, { store, definitions: [mail] })
  await before.settings.set(mail.port, 26)
  await before.settings.set('app.theme' as string, 'dark', { userId: 'alice' })

  setVariables(t, {
    T_SMTP_HOST: 'smtp.example.org',
    T_SMTP_PORT: '587',
    T_SMTP_TLS: 'true',
    T_SMTP_ROUTES: '{"a":[1]}',
    T_LEVEL: 'debug',
    T_THEME: 'night',
  })
  const app = await createApp(t, { store, definitions: [mail] })
  t.equal(app.settings.get(mail.host), 'smtp.example.org')
  t.equal(app.settings.get(mail.port), 587)
  t.equal(app.settings.get(mail.tls), true)
  t.same(app.settings.get(mail.routes), { a: [1] })
  t.equal(app.settings.get(mail.level), 'debug')
  t.equal((await app.settings.forUser('alice')).get(mail.theme), 'night', "above a user's own value")
  t.match((await as(app, 'alice')('GET', '/mail.port?scope=0')).json, {
    value: 587,
    source: 'locked',
    locked: true,
    lockedBy: 'variable',
    isOverridden: true,
  })
  t.same(
    (await store.history({ limit: 500 })).map(({ key }) => key).toSorted(),
    ['app.theme', 'mail.port'].filter((key) => key === 'mail.port'),
    'nothing of it is written',
  )
})

test('overrides and SM_SETTINGS_OVERRIDES win over a variable', async (t) => {
  setVariables(t, { T_SMTP_PORT: '587', T_SMTP_HOST: 'a', SM_SETTINGS_OVERRIDES: '{"mail.port":2525}' })
  const app = await createApp(t, { definitions: [mail], overrides: { 'mail.host': 'b' } })
  t.match(await app.settings.inspect('mail.port'), { value: 2525, lockedBy: 'environment' })
  t.match(await app.settings.inspect('mail.host'), { value: 'b', lockedBy: 'option' })
})

test('an empty variable is not set', async (t) => {
  const app = await startWith(t, { T_SMTP_HOST: '', T_SMTP_HOST_FILE: '' })
  t.equal(app.settings.get(mail.host), 'localhost')
})

test('a file has the value: one line break at its end is cut, all else stays', async (t) => {
  const folder = t.testdir({ unix: ' hunter2 \n\n', windows: 'x\r\n', full: `${'é'.repeat(8191)}x\n` })
  const app = await startWith(t, {
    T_SMTP_PASSWORD_FILE: join(folder, 'unix'),
    T_SMTP_HOST_FILE: join(folder, 'windows'),
    T_THEME_FILE: join(folder, 'full'),
  })
  t.equal(app.settings.get(mail.password), ' hunter2 \n')
  t.equal(app.settings.get(mail.host), 'x')
  t.equal(app.settings.get(mail.theme)?.length, 8192)
})

test(
  'a device, a folder and a pipe without a writer are no files',
  { skip: process.platform === 'win32' },
  async (t) => {
    const folder = t.testdir()
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    for (const path of ['/dev/zero', folder, pipe]) {
      // In a process of its own: one that waits for a writer runs no timers.
      const read = `import { readEnvironment, setting } from '@fastify-modular/settings'
      try { readEnvironment({ x: setting.text('x', { displayName: 'X', scope: 0, env: 'T_X' }) }) }
      catch ({ message }) { console.log(message) }`
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', read], {
        env: { ...process.env, T_X_FILE: path },
        encoding: 'utf8',
        timeout: 120_000,
        cwd: new URL('.', import.meta.url), // where the package has its name
      })
      t.match(stdout, /T_X_FILE: It is not a file\./, path)
    }
  },
)

test('all faults are one error, which names variables and no value', async (t) => {
  const folder = t.testdir({
    latin: Buffer.from([0x68, 0xe9]),
    long: 'hunter2'.repeat(10_000),
    'no-number': 'hunter2',
    empty: '',
    'line-break': '\r\n',
  })
  const quoting = setting.text('app.quoting', {
    displayName: 'Quoting',
    scope: Application,
    env: 'T_QUOTING',
    validate: (value) => `${value} is wrong`,
  })
  const throwing = setting.text('app.throwing', {
    displayName: 'Throwing',
    scope: Application,
    env: 'T_THROWING',
    validate: (value) => {
      throw new Error(value)
    },
  })
  const { error } = await rejection(
    startWith(
      t,
      {
        T_SMTP_HOST: 'hunter2',
        T_SMTP_HOST_FILE: '/hunter2',
        T_SMTP_PORT_FILE: join(folder, 'no-number'),
        T_SMTP_TLS: 'hunter2',
        T_SMTP_ROUTES: '{hunter2',
        T_LEVEL: 'hunter2',
        T_SMTP_PASSWORD_FILE: join(folder, 'latin'),
        T_THEME_FILE: join(folder, 'long'),
        T_QUOTING: 'hunter2',
        T_THROWING: 'hunter2',
        T_MISSING_FILE: '/hunter2/missing',
        T_EMPTY_FILE: join(folder, 'empty'),
        T_LINE_BREAK_FILE: join(folder, 'line-break'),
      },
      [
        ...Object.values(mail),
        quoting,
        throwing,
        ...['missing', 'empty', 'line_break'].map((name) => text(`app.${name}`, `T_${name.toUpperCase()}`)),
      ],
    ),
  )
  t.match(error, { code: 'FMOD_SETTINGS_INVALID_ENVIRONMENT' })
  const { message } = error as Error
  t.same(
    message.match(/T_\w+[^\n]*?(?=\s+https:|\n)/g),
    [
      'T_SMTP_HOST and T_SMTP_HOST_FILE are both set: unset one',
      'T_SMTP_PORT_FILE: Write a number as in JSON, like 587.',
      'T_SMTP_TLS: Write true or false.',
      'T_SMTP_ROUTES: Write valid JSON.',
      'T_LEVEL: Enter one of: info, debug.',
      'T_SMTP_PASSWORD_FILE: The file is not UTF-8.',
      'T_THEME_FILE: The file is longer than 65536 bytes.',
      'T_QUOTING: This value does not fit.',
      'T_THROWING: Its rule or schema failed.',
      'T_MISSING_FILE: The file cannot be read.',
      'T_EMPTY_FILE: The file is empty.',
      'T_LINE_BREAK_FILE: The file is empty.',
    ],
    message,
  )
  t.notMatch(JSON.stringify([message, (error as Error).stack, (error as Error).cause]), 'hunter2')
})

for (const [name, definitions, problem] of [
  [
    'two settings read one variable',
    [text('a.a', 'T_ONE'), text('a.b', 'T_ONE')],
    /"a\.b".*"a\.a" reads T_ONE/,
  ],
  [
    'a variable is the file of another',
    [text('a.a', 'T_ONE_FILE'), text('a.b', 'T_ONE')],
    /"a\.b".*"a\.a" reads T_ONE/,
  ],
  ['it belongs to the framework', [text('a.a', 'SM_MINE')], /env cannot be SM_MINE/],
  ['it is NODE_ENV', [text('a.a', 'NODE_ENV')], /env cannot be NODE_ENV/],
  ['it is no name', [text('a.a', 'smtp host')], /env must be the name of an environment variable/],
  [
    'a User setting is sensitive',
    [{ ...text('a.a', 'T_ONE'), scope: User, sensitive: true }],
    /a sensitive User setting cannot have env/,
  ],
] as const)
  test(`the boot stops where ${name}`, async (t) => {
    const { error } = await rejection(createApp(t, { definitions }))
    t.match(error, { code: 'FMOD_SETTINGS_INVALID_DEFINITIONS', message: problem })
  })

function text(key: string, env: string): SettingDefinition {
  return { key, displayName: key, scope: Application, type: 0, env }
}

const strict = setting.json('mail.strict', {
  displayName: 'Strict',
  scope: Application,
  env: 'T_STRICT',
  schema: Type.Object({ a: Type.Optional(Type.Number()) }, { additionalProperties: false }),
  default: {},
})
const deep = '['.repeat(30_000) + ']'.repeat(30_000)

for (const [name, text, problem] of [
  ['null, which would be no value', 'null', /T_STRICT: null cannot be locked/],
  ['JSON that is nested too deep to be frozen', deep, /T_STRICT: Enter JSON nested at most 32 levels deep/],
  ['a member that the schema refuses', '{"hush":1}', /T_STRICT: This value does not fit/],
] as const) {
  test(`${name} is a fault of the variable, and nothing of it is shown`, async (t) => {
    const { error } = await rejection(startWith(t, { T_STRICT: text }, [strict]))
    t.match(error, { code: 'FMOD_SETTINGS_INVALID_ENVIRONMENT', message: problem })
    t.notMatch(String(error), /hush/)
    t.throws(() => readEnvironment({ strict }), { code: 'FMOD_SETTINGS_INVALID_ENVIRONMENT' })
  })
}

test('only those learn the name of the variable who may write the setting', async (t) => {
  const guarded = setting.text('mail.guarded', {
    displayName: 'Guarded',
    scope: Application,
    env: 'T_GUARDED',
    writePermission: 'Mail.Configure',
  })
  const app = await startWith(t, { T_SMTP_PORT: '587', T_GUARDED: 'x' }, [...Object.values(mail), guarded])
  const named = async (caller: 'admin' | 'editor' | 'alice') =>
    (await as(app, caller)('GET', '/definitions')).json
      .filter(({ env }: { env: string | null }) => env !== null)
      .map(({ env }: { env: string }) => env)
  t.same(await named('alice'), [])
  t.same(await named('editor'), ['T_SMTP_TLS', 'T_SMTP_ROUTES', 'T_LEVEL', 'T_THEME'])
  t.equal((await named('admin')).length, 8)
  t.equal(app.settings.definitions.getDefinition('mail.port')?.env, 'T_SMTP_PORT', 'code in process knows it')
})

test('a secret of the environment is nowhere: no body, header, log or schema of a route has it', async (t) => {
  const canary = 'c4n4ry-of-the-environment'
  const lines: string[] = []
  setVariables(t, { T_SMTP_PASSWORD: canary, T_SMTP_PORT: '587' })
  const caller: Caller = { id: 'editor', permissions: ['Settings.Update'] }
  const app = Fastify({
    logger: { level: 'trace', stream: { write: (line: string) => void lines.push(line) } },
  })
  t.teardown(() => app.close())
  const routes: { method: unknown; url: string; schema?: unknown }[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  await app.register(settings, { definitions: [mail], findCaller: () => caller })
  await app.ready()
  const answers: unknown[] = [routes]
  for (const { method, url } of routes) {
    if (url.endsWith('/stream')) continue
    for (const key of ['mail.password', 'mail.port']) {
      const answer = await app.inject({
        method: method as 'GET',
        url: url.replace(':key', key).replace(':revision', '1'),
        query: url.endsWith('/:key') && !url.includes('/me') ? { scope: '0' } : {},
        ...(method === 'PUT' || method === 'POST'
          ? { payload: { key, scope: 0, value: canary.slice(0, 5) } }
          : {}),
      })
      answers.push(answer.headers, answer.payload)
    }
  }
  answers.push(await app.settings.inspect('mail.password'), app.settings.export(), await app.settings.list())
  t.notMatch(JSON.stringify([answers, lines]), canary)
  t.equal(app.settings.get(mail.password), canary, 'the application has it')
})

test('readEnvironment has the values before there is an application', async (t) => {
  setVariables(t, { T_SMTP_PORT: '587', SM_SETTINGS_OVERRIDES: '{"mail.host":"fixed","other.key":1}' })
  const { host, port, tls, level } = readEnvironment(mail)
  const typed: number = port
  t.same([host, typed, tls, level], ['fixed', 587, null, 'info'])
  setVariables(t, { T_SMTP_PORT: 'hunter2', T_SMTP_TLS: 'hunter2' })
  t.throws(() => readEnvironment(mail), {
    code: 'FMOD_SETTINGS_INVALID_ENVIRONMENT',
    message: /^(?![^]*hunter2)[^]*T_SMTP_PORT[^]*T_SMTP_TLS/,
  })
  setVariables(t, { T_SMTP_PORT: '587', T_SMTP_TLS: '', SM_SETTINGS_OVERRIDES: '{"mail.host":7}' })
  t.throws(() => readEnvironment(mail), { code: 'FMOD_SETTINGS_INVALID_OVERRIDES' })
  const conditional = setting.text('app.part', {
    displayName: 'Part',
    scope: Application,
    showWhen: { key: 'else.where', equals: true },
    default: 'x',
  })
  delete process.env['SM_SETTINGS_OVERRIDES']
  t.same(readEnvironment({ conditional }), { conditional: 'x' }, 'what it is shown for may be elsewhere')
})
