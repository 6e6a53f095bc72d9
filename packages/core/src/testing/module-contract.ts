/** What every published module must do; run it over your own. Needs no test framework: failures are assertion errors. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { getDecorator, hasOwnDecorator } from '../internal/decorators.ts'
import { mountingModule } from '../internal/mounting.ts'
import { withTimeout } from '../internal/timeout.ts'
import { defineModule, type Module } from '../modules/module.ts'
import { modules } from '../modules/plugin.ts'
import type { DefineTest } from './transport-harness.ts'

/** A module, and an application to try it in. */
export interface ModuleFixture {
  /** Makes the module; called once for each application. */
  create(): Module
  /** Makes an application with the plugins that the module contributes to and a gate, without modules and not ready. */
  application(): FastifyInstance | Promise<FastifyInstance>
  /** Makes the modules that it depends on, the optional ones included. @default none */
  others?(): readonly Module[]
}

/**
 * Defines the conformance tests of one module:
 * `moduleContract(test, { create: () => billing(), application: createApp })`.
 * They start and close applications, so run no other tests of the same process at the same time.
 */
export function moduleContract(test: DefineTest, fixture: ModuleFixture): void {
  const others = () => fixture.others?.() ?? []

  test('it boots with nothing but what it depends on, and closes', async () => {
    await trying(fixture, withRequired(fixture.create(), others()), () => undefined)
  })

  test('it leaves its neighbours as they are, listed before them or after them', async () => {
    const expected = await answersWith(fixture, [...others(), neighbour])
    const last = await answersWith(fixture, [...others(), neighbour, fixture.create()])
    assert.deepEqual(last, expected)
    const first = await answersWith(fixture, [fixture.create(), neighbour, ...others()])
    assert.deepEqual(first, expected)
  })

  test('each of its routes says who may call it', async () => {
    const module = fixture.create()
    await trying(fixture, [...others(), module], ({ app, routes }) => {
      const isGated = hasOwnDecorator(app, 'publicRoutes')
      assert.ok(
        isGated || routes.length === 0,
        'application() registers no gate: nothing protects the routes',
      )
      assertNone(isGated ? undeclaredRoutes(app, module.name) : [], 'these routes declare no access')
    })
  })

  test('the keys of its settings begin with its name', async () => {
    const without = await trying(fixture, others(), ({ app }) => settingKeys(app))
    const module = fixture.create()
    const all = await trying(fixture, [...others(), module], ({ app }) => settingKeys(app))
    const foreign = all.filter((key) => !without.includes(key) && !key.startsWith(`${module.name}.`))
    assertNone(foreign, `these keys do not begin with "${module.name}."`)
  })

  test('nothing of it is left when the application has closed', async () => {
    // What plugins keep for the whole process is there after the first application.
    await trying(fixture, others(), () => undefined)
    const before = running()
    await trying(fixture, [...others(), fixture.create()], () => undefined)
    for (let turn = 0; turn < 200 && added(before).length > 0; turn++) await delay(5) // sockets end a little later
    assertNone(added(before), 'these are left')
  })

  test('it boots again as it did the first time', async () => {
    const boot = () =>
      trying(fixture, [...others(), fixture.create()], ({ app, routes }) => ({
        routes,
        settings: settingKeys(app),
      }))
    const first = await boot()
    assert.deepEqual(await boot(), first)
  })
}

function assertNone(names: readonly string[], complaint: string): void {
  assert.ok(names.length === 0, `${complaint}: ${names.join(', ')}`)
}

/** A started application; `routes` are those that modules registered: `billing: GET /invoices`. */
interface Trial {
  readonly app: FastifyInstance
  readonly routes: readonly string[]
}

/** Starts an application with these modules, looks at it, and closes it. Rejects where one of these fails. */
async function trying<T>(
  fixture: ModuleFixture,
  list: readonly Module[],
  look: (trial: Trial) => T | Promise<T>,
): Promise<T> {
  const app = await fixture.application()
  const routes: string[] = []
  const failures: unknown[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const module = mountingModule(app)
    if (module !== undefined) routes.push(`${module}: ${String(method)} ${url}`)
  })
  let seen: { readonly value: T } | undefined
  try {
    await app.register(modules, { modules: list })
    await app.ready()
    seen = { value: await look({ app, routes }) }
  } catch (error) {
    failures.push(error)
  }
  const hanging = new assert.AssertionError({ message: 'the application does not close' })
  await withTimeout(app.close(), 4000, () => void failures.push(hanging)).catch(
    (error) => void failures.push(error),
  )
  if (!seen || failures.length > 0) throw failures[0]
  return seen.value
}

/** The module with those of the others that it needs, and what these need. */
function withRequired(module: Module, others: readonly Module[]): readonly Module[] {
  const required = new Set([module])
  for (const { dependsOn = [] } of required)
    for (const other of others) if (dependsOn.includes(other.name)) required.add(other)
  return [...required]
}

const path = '/fastify-modular-contract'

/** A module that knows nothing of the others. */
const neighbour = defineModule({
  name: 'fastify-modular-contract',
  plugin: async (app) => {
    const config = { access: 'public' }
    app.get(path, { config }, async () => ({ text: 'Hello' }))
    app.post(path, { config }, async ({ body }) => ({ body }))
    app.get(`${path}/failing`, { config }, async () => {
      throw new Error('failing on purpose')
    })
  },
})

const requests: readonly InjectOptions[] = [
  { url: path },
  { url: path, method: 'POST', payload: { text: 'Hello' } },
  { url: path, method: 'POST', payload: 'Hello', headers: { 'content-type': 'text/x-contract' } },
  { url: `${path}/failing` },
  { url: `${path}/missing` },
]

/** Status, names of headers and body of each request that is none of the module's business. */
function answersWith(fixture: ModuleFixture, list: readonly Module[]): Promise<readonly unknown[]> {
  return trying(fixture, list, async ({ app }) => {
    const answers: unknown[] = []
    for (const request of requests) {
      const { headers, statusCode, body } = await app.inject({
        ...request,
        headers: { accept: 'application/json', ...request.headers },
      })
      answers.push({
        request: `${request.method ?? 'GET'} ${String(request.url)}`,
        statusCode,
        headers: Object.keys(headers).toSorted(),
        body: body.replace(/"requestId":"[^"]*"/, '"requestId":""'),
      })
    }
    return answers
  })
}

/** What the gate of public-routes says of each route and method. */
interface AccessTable {
  table(): readonly {
    readonly method: string
    readonly url: string
    readonly module: string | null
    readonly why: string
  }[]
}

function undeclaredRoutes(app: FastifyInstance, module: string): readonly string[] {
  return getDecorator<AccessTable>(app, 'access')
    .table()
    .filter((row) => row.module === module && row.why === 'undeclared')
    .map(({ method, url }) => `${method} ${url}`)
}

interface SettingDefinitions {
  readonly definitions: { getDefinitions(): readonly { readonly key: string }[] }
}

function settingKeys(app: FastifyInstance): readonly string[] {
  if (!hasOwnDecorator(app, 'settings')) return []
  const { definitions } = getDecorator<SettingDefinitions>(app, 'settings')
  return definitions.getDefinitions().map(({ key }) => key)
}

/** Kinds of `process.getActiveResourcesInfo` that last until something ends them. */
const lasting: ReadonlySet<string> = new Set([
  'FSEventWrap',
  'MessagePort',
  'ProcessWrap',
  'StatWatcher',
  'TCPServerWrap',
  'TCPSocketWrap',
  'Timeout',
  'UDPWrap',
])

/** What keeps the process alive and who listens to it, by name, with how many there are. */
function running(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo())
    if (lasting.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  for (const event of process.eventNames())
    counts.set(`process.on('${String(event)}')`, process.listenerCount(event))
  return counts
}

function added(before: ReadonlyMap<string, number>): readonly string[] {
  return [...running()].filter(([name, count]) => count > (before.get(name) ?? 0)).map(([name]) => name)
}
