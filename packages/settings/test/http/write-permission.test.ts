/** `write`: the permission that a definition names. The table of ways × roles × settings is derived from the routes. */
import type { Caller } from '@fastify-modular/core'
import { branded } from '@fastify-modular/core/internal'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance, type FastifyRequest, type RouteOptions } from 'fastify'
import { type Test, test } from 'tap'
import { rejection } from '../support/app.ts'

const { System, Application, User } = SettingScope
const permission = 'Mail.Configure'

const tokens = {
  open: setting.text('app.open', { displayName: 'Open', scope: Application }),
  guarded: setting.text('app.guarded', {
    displayName: 'Guarded',
    scope: Application,
    writePermission: permission,
  }),
  system: setting.text('sys.guarded', { displayName: 'System', scope: System, writePermission: permission }),
  inherited: setting.text('user.guarded', {
    displayName: 'Inherited',
    scope: User,
    writePermission: permission,
  }),
}
const definitions = Object.values(tokens)

const roles: readonly Caller[] = [
  { id: 'reader' },
  { id: 'configurer', permissions: [permission] },
  { id: 'editor', permissions: ['Settings.Update'] },
  { id: 'both', permissions: ['Settings.Update', 'Mail.*'] },
  { id: 'administrator', isAdmin: true },
]

interface Way {
  readonly query?: string
  readonly body?: (key: string, scope: number) => unknown
  /** Of the caller's own value. */
  readonly isOwn?: boolean
}

/** One request for each way of writing, by its operation. The first has a second form for a person's own value. */
const ways: Readonly<Record<string, readonly Way[]>> = {
  updateSetting: [{ body: (key, scope) => ({ key, scope, value: 'new' }) }],
  updateSettings: [
    { body: (key, scope) => [{ key, scope, value: 'new' }] },
    { query: 'dryRun=true', body: (key, scope) => [{ key, scope, value: 'new' }] },
    {
      body: (key, scope) =>
        [
          { key: 'app.open', scope: 1, value: 'new' },
          { key, scope, value: null },
        ].slice(key === 'app.open' ? 1 : 0),
    },
  ],
  resetSetting: [{ query: 'scope=:scope' }],
  updateMySetting: [{ isOwn: true, body: (key) => ({ key, value: 'new' }) }],
  resetMySetting: [{ isOwn: true }],
  restoreSetting: [
    { body: (_key, scope) => ({ scope, revision: ':first' }) },
    { isOwn: true, body: () => ({ scope: 2, revision: ':own' }) },
  ],
  revertSettingChanges: [
    { body: () => ({}) },
    { query: 'dryRun=true', body: (key) => ({ force: { [key]: 1 } }) },
  ],
  importSettings: [
    { body: (key, scope) => ({ format: 1, settings: [{ key, scope, value: 'new' }] }) },
    { query: 'mode=replace', body: () => ({ format: 1, settings: [] }) },
    { query: 'dryRun=true', body: (key, scope) => ({ format: 1, settings: [{ key, scope, value: 'new' }] }) },
  ],
}

interface Started {
  readonly app: FastifyInstance
  readonly routes: readonly RouteOptions[]
}

/** The header `x-caller` names the caller. */
async function start(t: { teardown(close: () => unknown): unknown }): Promise<Started> {
  const app = Fastify()
  t.teardown(() => app.close())
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => void routes.push(route))
  const caller = ({ headers }: FastifyRequest) => roles.find(({ id }) => id === headers['x-caller']) ?? null
  await app.register(settings, { definitions, findCaller: caller })
  await app.ready()
  return { app, routes }
}

test('every way of writing asks for the permission that a definition names, and for all that it asked before', async (t) => {
  const { app, routes } = await start(t)
  const operationOf = (route: RouteOptions): string => String(Object(route.schema).operationId)
  // These write no value; their rights are in `resources/probe` and `windows/windows`.
  const others = ['probeSettingResource', 'keepSettingChange']
  const writing = routes.filter(
    (route) =>
      ['PUT', 'POST', 'DELETE'].includes(String(route.method)) && !others.includes(operationOf(route)),
  )
  t.same(
    writing.map(operationOf).toSorted(),
    Object.keys(ways).toSorted(),
    'every route that writes has its requests here',
  )
  let cases = 0
  for (const route of writing)
    for (const way of ways[String(Object(route.schema).operationId)] ?? [])
      for (const caller of roles)
        for (const stored of definitions) {
          if (way.isOwn && stored.scope !== User) continue
          cases++
          await tryWay(t, { app, route, way, caller, stored })
        }
  t.equal(cases, 11 * 5 * 4 + 3 * 5)
})

interface Case {
  readonly app: FastifyInstance
  readonly route: RouteOptions
  readonly way: Way
  readonly caller: Caller
  readonly stored: (typeof definitions)[number]
}

async function tryWay(t: Test, { app, route, way, caller, stored }: Case): Promise<void> {
  for (const { key } of definitions) await app.settings.reset(key)
  await app.settings.set(stored.key, 'first')
  await app.settings.set(stored.key, 'second')
  const second = app.settings.status.revision
  if (stored.scope === User) {
    await app.settings.reset(stored.key, { userId: caller.id })
    await app.settings.set(stored.key, 'mine', { userId: caller.id })
  }
  const scope = stored.scope === User ? Application : stored.scope
  const own = await app.settings.history({ userId: caller.id })
  const before = app.settings.export()
  const fill = (text: string) =>
    text
      .replace(':key', stored.key)
      .replace(':revision', String(second))
      .replace(':scope', String(scope))
      .replace('":first"', String(second - 1))
      .replace('":own"', String(own.entries[0]?.revision))
  const answer = await app.inject({
    method: route.method as 'PUT',
    url: fill(`${route.url}${way.query ? `?${way.query}` : ''}`),
    headers: { 'x-caller': caller.id, ...(way.body && { 'content-type': 'application/json' }) },
    ...(way.body && { payload: fill(JSON.stringify(way.body(stored.key, scope))) }),
  })

  const isAdmin = caller.isAdmin === true
  const mayUpdate = isAdmin || caller.permissions?.includes('Settings.Update') === true
  const mayConfigure = isAdmin || caller.permissions?.some((each) => each.startsWith('Mail.')) === true
  const isGuarded = stored.writePermission === permission && !way.isOwn
  const name = `${String(route.method)} ${route.url} ${way.query ?? ''} ${caller.id} ${stored.key}`
  // `replace` leaves System values alone that the caller does not see.
  const isLeftAlone = way.query === 'mode=replace' && stored.scope === System && !isAdmin
  const isAllowed =
    mayUpdate && (isLeftAlone || ((stored.scope !== System || isAdmin) && (!isGuarded || mayConfigure)))
  if (isAllowed) {
    t.match(answer.statusCode, /^20[04]$/, `${name}: allowed`)
    return
  }
  // A set of which the caller sees nothing is none.
  const isUnseen = route.url.endsWith('/revert') && mayUpdate && stored.scope === System && !isAdmin
  t.equal(answer.statusCode, isUnseen ? 404 : 403, `${name}: refused`)
  if (mayUpdate && !(stored.scope === System && !isAdmin)) t.match(answer.json().detail, permission, name)
  t.same(app.settings.export(), before, `${name}: nothing was written`)
}

test('the refusal comes before what locks or versions say, and after what cannot be meant', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const caller = { id: 'editor', permissions: ['Settings.Update'] }
  await app.register(settings, {
    definitions,
    findCaller: () => caller,
    overrides: { 'app.guarded': 'fixed' },
  })
  const put = (body: object, headers = {}) =>
    app.inject({ method: 'PUT', url: '/api/settings', payload: body, headers })
  t.equal((await put({ key: 'app.guarded', scope: 1, value: 'x' })).statusCode, 403)
  t.equal((await put({ key: 'app.guarded', scope: 1, value: 'x' }, { 'if-match': '"r9"' })).statusCode, 403)
  t.equal((await put({ key: 'app.guarded', scope: 2, value: 'x' })).statusCode, 400)
  t.equal((await put({ key: 'app.unknown', scope: 1, value: 'x' })).statusCode, 404)
})

test('definitions tell each caller what he may write', async (t) => {
  const { app } = await start(t)
  for (const caller of roles) {
    const answer = await app.inject({
      url: '/api/settings/definitions',
      headers: { 'x-caller': caller.id },
    })
    const writable = answer
      .json<{ key: string; canWrite: boolean }[]>()
      .filter(({ canWrite }) => canWrite)
      .map(({ key }) => key)
    const expected: Readonly<Record<string, string[]>> = {
      reader: [],
      configurer: [],
      editor: ['app.open'],
      both: ['app.open', 'app.guarded', 'user.guarded'],
      administrator: ['app.open', 'app.guarded', 'sys.guarded', 'user.guarded'],
    }
    t.same(writable, expected[caller.id], caller.id)
  }
})

test('a permission that no module declares stops the boot, where a gate knows the permissions', async (t) => {
  const declared = new Set<string>()
  const app = Fastify()
  t.teardown(() => app.close())
  app.decorate('publicRoutes', branded({}))
  const permissions = {
    has: (name: string) => declared.has(name),
    addAll: (permissions: object) => Object.keys(permissions).forEach((name) => declared.add(name)),
    addFacts() {},
  }
  app.decorate('permissions', branded(permissions))
  const action = { label: 'Outbox', href: '/mails', permission: 'Mails.Raed' }
  app.register(settings, { definitions, groups: { Mail: { action } }, findCaller: () => null })
  const { error } = await rejection(Promise.resolve(app.ready()))
  t.match(error, {
    code: 'FMOD_SETTINGS_INVALID_DEFINITIONS',
    message:
      /setting "app\.guarded": no module declares the permission "Mail\.Configure"[^]*action of the group "Mail": no module declares the permission "Mails\.Raed"/,
  })
})
