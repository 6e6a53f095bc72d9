/** Rules that hold for every route: the tests derive their cases from the routes that the plugin registers. */
import { text } from 'node:stream/consumers'
import { type FindCaller, settings } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { test } from 'tap'
import { createApp, definitions, editor, routesOf } from '../support/app.ts'

const title = { key: 'app.title', scope: 1, value: 'Acme' }

/** A request that each route accepts, after `title` was written twice. */
const requests: Readonly<Record<string, { readonly query?: string; readonly body?: unknown }>> = {
  listSettings: {},
  listSettingDefinitions: {},
  getPublicSettings: {},
  getSetting: { query: 'scope=1' },
  getResolvedSetting: {},
  updateSetting: { body: title },
  updateSettings: { body: [title] },
  resetSetting: { query: 'scope=1' },
  listMySettings: {},
  updateMySetting: { body: { key: 'app.theme', value: 'dark' } },
  resetMySetting: {},
  inspectSetting: {},
  listSettingHistory: {},
  getSettingHistoryEntry: {},
  restoreSetting: { body: { scope: 1, revision: 1 } },
  revertSettingChanges: { body: { force: { 'app.title': 2 } } },
  listSettingChanges: {},
  exportSettings: {},
  importSettings: { body: { format: 1, settings: [title] } },
  getSettingChange: {},
  keepSettingChange: { body: {} },
  probeSettingResource: { body: {} },
  streamSettings: {},
  streamPublicSettings: {},
}

interface Route {
  readonly name: string
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly url: string
  readonly body: unknown
  readonly isPublic: boolean
  /** Answers 204, or with `Prefer: return=representation` what was written. */
  readonly isWrite: boolean
}

/** The routes of the application, each with a request that it accepts. */
function requestsOf(app: FastifyInstance): readonly Route[] {
  return toRequests(routesOf(app))
}

function toRequests(routes: readonly RouteOptions[]): readonly Route[] {
  return routes.flatMap((route) =>
    [route.method].flat().map((method) => {
      const operation = operationOf(route)
      const { query, body } = requests[operation] ?? {}
      const path = route.url
        .replace('/me/:key', '/me/app.theme')
        .replace(':key', 'app.title')
        .replace(':name', 'support')
        .replace(':revision/keep', '3/keep')
        .replace(':revision', '1')
      return {
        name: `${method} ${route.url}`,
        method: method as Route['method'],
        url: query ? `${path}?${query}` : path,
        body,
        isPublic: operation === 'getPublicSettings' || operation === 'streamPublicSettings',
        isWrite: 204 in Object(route.schema?.response),
      }
    }),
  )
}

function operationOf({ schema }: RouteOptions): string {
  return String(Object(schema).operationId)
}

async function request(app: FastifyInstance, { method, url, body }: Route, headers = {}) {
  const sent = { method, url, headers, ...(body !== undefined && { payload: Object(body) }) }
  const answer = await app.inject({ ...sent, payloadAsStream: true })
  const { statusCode } = answer
  // A stream that was opened has no end.
  const payload = statusCode === 200 && url.endsWith('/stream') ? '' : await text(answer.stream())
  return { statusCode, headers: answer.headers, payload }
}

/** Two revisions of the title, and one of a setting that the editor owns. */
async function fill(app: FastifyInstance): Promise<void> {
  await app.settings.contract.setSetting('app.title', 'one', 1)
  await app.settings.contract.setSetting('app.title', 'two', 1)
  await app.settings.set('app.primary_color', '#000000', { confirmWithin: 600 })
}

test('every route has a request here that it accepts', async (t) => {
  for (const { name } of requestsOf(await createApp(t))) {
    const app = await createApp(t, { findCaller: () => editor })
    await fill(app)
    const route = requestsOf(app).find((candidate) => candidate.name === name)
    t.ok(route)
    if (route) t.match((await request(app, route)).statusCode, /^20[04]$/, name)
  }
})

const nothing: unknown = undefined
/** Ways in which the option `caller` finds no caller; its type allows two of them. */
const withoutCaller: Readonly<Record<string, () => unknown>> = {
  'returns null': () => null,
  'returns undefined': () => undefined,
  'returns something without an id': () => ({ permissions: ['*'], isAdmin: true }),
  'returns an empty id': () => ({ ...editor, id: '' }),
  'returns an id that is not text': () => ({ ...editor, id: 7 }),
  'returns text': () => 'admin',
  'throws an Error': () => {
    throw new Error('no session')
  },
  'throws null': () => {
    throw null
  },
  'throws undefined': () => {
    throw nothing
  },
  'resolves to null': async () => null,
  'resolves to undefined': async () => undefined,
  'resolves to something without an id': async () => ({ permissions: ['*'], isAdmin: true }),
  'resolves to an id that cannot be read': async () => ({
    get id() {
      throw nothing
    },
  }),
  'resolves to text': async () => 'admin',
  'rejects with an Error': async () => {
    throw new Error('no session')
  },
  'rejects with null': () => Promise.reject(null),
  'rejects with undefined': () => Promise.reject(),
  'rejects with false': () => Promise.reject(false),
  'rejects with text': () => Promise.reject('no session'),
  // oxlint-disable-next-line no-thenable -- what some libraries return in place of a promise
  'is a thenable that is not a promise': () => ({ then: (admit: (caller: unknown) => void) => admit(null) }),
  'is a thenable that rejects with nothing': () => ({
    // oxlint-disable-next-line no-thenable -- as above
    then: (_admit: unknown, refuse: (reason?: unknown) => void) => refuse(),
  }),
}

for (const [way, caller] of Object.entries(withoutCaller)) {
  test(`a caller option that ${way} admits requests to the public route alone`, async (t) => {
    const app = await createApp(t, { findCaller: caller as FindCaller })
    await fill(app)
    const { revision } = app.settings.status
    for (const route of requestsOf(app)) {
      const { statusCode, headers, payload } = await request(app, route)
      if (route.isPublic) t.equal(statusCode, 200, route.name)
      else {
        t.match(statusCode, /^(401|500)$/, route.name)
        t.equal(headers['content-type'], 'application/problem+json', route.name)
        if (statusCode === 401) t.ok(headers['www-authenticate'], route.name)
        t.notMatch(payload, /two/, route.name)
      }
    }
    t.equal(app.settings.status.revision, revision, 'nothing was written')
  })
}

/** What a hook of the host may leave in `config.access` of every route, and whether the public one stays open. */
const hostRules: readonly (readonly [unknown, boolean])[] = [
  ['public', true],
  ['signed-in', false],
  ['Settings.Update', false],
  [undefined, false],
  [null, false],
  [true, false],
  [['public'], false],
  [{ POST: 'public' }, false],
]

for (const [rule, isOpen] of hostRules) {
  test(`config.access ${JSON.stringify(rule)} on every route opens ${isOpen ? 'the public one alone' : 'none of them'}`, async (t) => {
    const app = Fastify()
    t.teardown(() => app.close())
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: rule } as NonNullable<RouteOptions['config']>
    })
    const routes: RouteOptions[] = []
    app.addHook('onRoute', (route) => void routes.push(route))
    await app.register(settings, { definitions: [definitions], findCaller: () => null })
    await app.ready()
    for (const route of toRequests(routes)) {
      const bare = { ...route, url: String(route.url.split('?')[0]), body: undefined }
      for (const each of [route, bare]) {
        const { statusCode } = await request(app, each)
        t.equal(statusCode, route.isPublic && isOpen ? 200 : 401, `${each.name} ${each.url}`)
      }
    }
  })
}

test('every write answers 204, or what is stored where the request prefers a representation', async (t) => {
  for (const { name, isWrite } of requestsOf(await createApp(t))) {
    if (!isWrite) continue
    for (const preference of [undefined, 'return=representation', 'respond-async, return="representation"']) {
      const app = await createApp(t, { findCaller: () => editor })
      await fill(app)
      const route = requestsOf(app).find((candidate) => candidate.name === name)
      if (!route) continue
      const got = await request(app, route, preference ? { prefer: preference } : {})
      t.ok(got.headers['etag'], name)
      t.equal(got.headers['cache-control'], 'no-store', name)
      if (preference === undefined) {
        t.equal(got.statusCode, 204, name)
        t.equal(got.payload, '', name)
      } else {
        t.equal(got.statusCode, 200, name)
        t.equal(got.headers['preference-applied'], 'return=representation', name)
        const [{ revision: _revision, ...value }] = [JSON.parse(got.payload)].flat()
        t.match(value, { key: String, version: Number, isOverridden: Boolean }, name)
        const stored = await app.settings.contract.getSettingValue(
          value.key,
          value.scope,
          value.userId ?? undefined,
        )
        t.same(value, stored, name)
      }
    }
  }
})

test('every route that writes refuses a parameter that it does not know, and writes nothing', async (t) => {
  const app = await createApp(t, { findCaller: () => editor })
  await fill(app)
  const { revision } = app.settings.status
  for (const route of requestsOf(app).filter(({ method }) => method !== 'GET' && method !== 'HEAD')) {
    const url = `${route.url}${route.url.includes('?') ? '&' : '?'}misspelt=1`
    const { statusCode, payload } = await request(app, { ...route, url })
    t.equal(statusCode, 400, route.name)
    t.same(JSON.parse(payload).errors, { misspelt: ['Unexpected property.'] }, route.name)
  }
  t.equal(app.settings.status.revision, revision)
})
