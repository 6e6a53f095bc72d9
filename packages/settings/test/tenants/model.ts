/**
 * Three organisations, four people who move between them, and everything that reads or writes: after each step every answer
 * is what the model says, and names no value of another organisation.
 */
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { SettingScope } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'
import type { StorePort } from '#src/store/store.js'
import { randomFrom } from '../support/random.ts'
import { as, createApp, manage, type Members, tenantsOf } from './app.ts'
import { Tab } from './tabs.ts'

const tenants = ['acme', 'bolt', 'core'] as const
/** One of them has the id of an organisation. */
const people = ['ada', 'bob', 'eve', 'acme'] as const
const keys = ['org.brand', 'user.theme', 'org.limit'] as const
const defaults: Readonly<Record<string, string>> = {
  'org.brand': 'None',
  'user.theme': 'light',
  'org.limit': 'none',
}
const isUserKey = (key: string): boolean => key === 'user.theme'

interface Expected {
  readonly shared: Map<string, string>
  readonly ofTenants: Map<string, Map<string, string>>
  readonly ofUsers: Map<string, Map<string, string>>
}

/** What a browser keeps of an address: it does not know of organisations. */
type Kept = Map<string, { readonly tag: string; readonly text: string }>

/** Runs so many steps. @throws {AssertionError} an answer is not what it must be, with the step */
export async function runModel(
  t: { teardown(close: () => unknown): unknown },
  open: () => StorePort,
  { steps, seed }: { readonly steps: number; readonly seed: number },
): Promise<Readonly<Record<string, number>>> {
  const model = await Model.start(t, open, seed)
  for (let step = 0; step < steps; step++) {
    try {
      await model.step()
    } catch (error) {
      throw new Error(`step ${step} of seed ${seed}: ${String(error)}`, { cause: error })
    }
  }
  model.checkLog()
  return model.counts
}

class Model {
  readonly counts: Record<string, number> = {}
  readonly #random: () => number
  readonly #members: Members
  readonly #apps: readonly FastifyInstance[]
  readonly #log: readonly string[]
  readonly #kept = new Map<string, Kept>()
  readonly #expected: Expected = { shared: new Map(), ofTenants: new Map(), ofUsers: new Map() }
  readonly #tabs: Tab[] = []
  #count = 0

  private constructor(init: {
    readonly random: () => number
    readonly members: Members
    readonly apps: readonly FastifyInstance[]
    readonly log: readonly string[]
  }) {
    this.#random = init.random
    this.#members = init.members
    this.#apps = init.apps
    this.#log = init.log
  }

  static async start(t: { teardown(close: () => unknown): unknown }, open: () => StorePort, seed: number) {
    const members: Members = {
      ada: { acme: manage, bolt: [] },
      bob: { acme: [], bolt: manage },
      eve: { core: manage },
      acme: { bolt: manage },
    }
    const log: string[] = []
    const stream = { write: (line: string) => void log.push(line) }
    const start = async () => {
      const app = await createApp(
        t,
        {
          store: open(),
          tenants: tenantsOf(members),
          findCaller({ headers }) {
            const id = headers['x-caller']
            // In some organisation everybody may write: that says nothing of another one.
            return typeof id === 'string' ? { id, permissions: [...manage], isAdmin: id === 'root' } : null
          },
        },
        { logger: { level: 'info', stream } },
      )
      return app
    }
    const model = new Model({ random: randomFrom(seed), members, log, apps: [await start(), await start()] })
    // Pages wait as short as they may.
    const wait = mock.method(Math, 'random', () => 0)
    t.teardown(() => wait.mock.restore())
    for (let count = 0; count < 2; count++)
      model.#tabs.push(
        await Tab.open(t, model.#apps[0] ?? (await start()), { keys, person: 'ada', named: 'acme' }),
      )
    return model
  }

  async step(): Promise<void> {
    const moves = {
      write: () => this.#write(),
      'write for another organisation': () => this.#writeForAnother(),
      'write a list': () => this.#writeList(),
      'write in process': () => this.#writeInProcess(),
      'write a default': () => this.#writeDefault(),
      'write for oneself': () => this.#writeOwn(),
      reset: () => this.#reset(),
      move: async () => this.#move(),
      erase: () => this.#erase(),
      read: () => this.#read(),
      'read in process': () => this.#readInProcess(),
      'sign in within a request': () => this.#signIn(),
      'switch a window': async () => this.#one(this.#tabs).switch(this.#someone()),
      'look at a window': () => this.#lookAtTab(),
    }
    const names = Object.keys(moves) as (keyof typeof moves)[]
    // Half of all steps read; erasures are rare.
    const roll = this.#random()
    const name = roll < 0.4 ? 'read' : roll < 0.5 ? 'read in process' : this.#one(names)
    if (name === 'erase' && this.#random() < 0.8) return
    if (name === 'look at a window' && this.#random() < 0.6) return // it waits for events
    this.counts[name] = (this.counts[name] ?? 0) + 1
    await moves[name]()
  }

  checkLog(): void {
    for (const line of this.#log) assert.doesNotMatch(line, /-canary-/, 'a value is in the log')
  }

  #one<T>(list: readonly T[]): T {
    const found = list[Math.floor(this.#random() * list.length)]
    assert.ok(found !== undefined)
    return found
  }

  #tenant(): string | undefined {
    return this.#random() < 0.2 ? undefined : this.#one(tenants)
  }

  /** A person at work, in an organisation of theirs, another one, or none. */
  #someone() {
    const person = this.#one(people)
    const named = this.#tenant()
    const permissions = named === undefined ? undefined : this.#members[person]?.[named]
    const tenant = permissions ? named : undefined
    return { person, named, tenant, mayWrite: permissions?.includes(manage[0]) ?? false }
  }

  /** An instance that has what the others wrote. */
  async #app(): Promise<FastifyInstance> {
    const app = this.#one(this.#apps)
    await app.settings.refresh()
    return app
  }

  #value(of: string): string {
    return `${of}-canary-${this.#count++}`
  }

  #set(map: Map<string, Map<string, string>>, owner: string, key: string, value: string | undefined): void {
    const own = map.get(owner) ?? new Map<string, string>()
    map.set(owner, own)
    if (value === undefined) own.delete(key)
    else own.set(key, value)
  }

  #inherited(key: string, tenant: string | undefined): string {
    const { shared, ofTenants } = this.#expected
    return ofTenants.get(tenant ?? '')?.get(key) ?? shared.get(key) ?? defaults[key] ?? ''
  }

  #holds(key: string, person: string | undefined, tenant: string | undefined): string {
    const own = isUserKey(key) ? this.#expected.ofUsers.get(person ?? '')?.get(key) : undefined
    return own ?? this.#inherited(key, tenant)
  }

  /** No value of an organisation in which the request is not, and nobody else's own. */
  #noStrangers(text: string, person: string | null, tenant: string | undefined): void {
    for (const [, owner = ''] of text.matchAll(/(\w+:\w+)-canary-/g))
      assert.ok(
        ['all:all', `user:${person}`, `tenant:${tenant}`].includes(owner),
        `${person} in ${tenant} was given a value of ${owner}`,
      )
  }

  async #lookAtTab(): Promise<void> {
    await this.#one(this.#tabs).look(({ person, named }) => {
      const tenant = this.#members[person]?.[named ?? ''] ? named : undefined
      return { tenant, values: keys.map((key) => this.#holds(key, person, tenant)) }
    })
  }

  async #write(): Promise<void> {
    const { person, named, tenant, mayWrite } = this.#someone()
    const key = this.#one(keys)
    const value = this.#value(`tenant:${named}`)
    const app = await this.#app()
    const body = { key, value, tenant: named ?? 'acme' }
    const { status } = await as(app, person, named)('PUT', '/tenant', body)
    const isAllowed = mayWrite && key !== 'org.limit'
    assert.equal(status, !tenant ? 404 : isAllowed ? 204 : 403, `${person} writes ${key} in ${named}`)
    if (tenant && isAllowed) this.#set(this.#expected.ofTenants, tenant, key, value)
  }

  /** A second tab has switched: the page still names the organisation that it shows. */
  async #writeForAnother(): Promise<void> {
    const { person, named, tenant, mayWrite } = this.#someone()
    const meant = this.#one(tenants.filter((each) => each !== named))
    const app = await this.#app()
    const body = { key: 'org.brand', value: this.#value(`tenant:${meant}`), tenant: meant }
    const { status } = await as(app, person, named)('PUT', '/tenant', [body])
    assert.equal(status, !tenant ? 404 : mayWrite ? 409 : 403)
  }

  async #writeList(): Promise<void> {
    const { person, named, tenant, mayWrite } = this.#someone()
    const value = this.#value(`tenant:${named}`)
    const isBad = this.#random() < 0.5
    const list = ['org.brand', 'user.theme'].map((key) => ({ key, value, tenant: named ?? 'acme' }))
    const app = await this.#app()
    const body = isBad ? [...list, { key: 'org.none', value, tenant: named ?? 'acme' }] : list
    const { status } = await as(app, person, named)('PUT', '/tenant', body)
    assert.equal(status, !tenant ? 404 : !mayWrite ? 403 : isBad ? 422 : 204)
    if (tenant && mayWrite && !isBad)
      for (const { key } of list) this.#set(this.#expected.ofTenants, tenant, key, value)
  }

  async #writeInProcess(): Promise<void> {
    const tenant = this.#one(tenants)
    const key = this.#one(keys)
    const value = this.#value(`tenant:${tenant}`)
    const { settings } = await this.#app()
    if (this.#random() < 0.5) await settings.set(key, value, { tenant, actor: 'acme' })
    else await settings.contract.setSetting(key, value, SettingScope.Tenant, tenant)
    this.#set(this.#expected.ofTenants, tenant, key, value)
  }

  async #writeDefault(): Promise<void> {
    const key = this.#one(keys)
    const value = this.#value('all:all')
    const { settings } = await this.#app()
    await settings.set(key, value)
    this.#expected.shared.set(key, value)
  }

  async #writeOwn(): Promise<void> {
    const { person, named } = this.#someone()
    const value = this.#value(`user:${person}`)
    const app = await this.#app()
    assert.equal((await as(app, person, named)('PUT', '/me', { key: 'user.theme', value })).status, 204)
    this.#set(this.#expected.ofUsers, person, 'user.theme', value)
  }

  async #reset(): Promise<void> {
    const { person, named, tenant, mayWrite } = this.#someone()
    const app = await this.#app()
    const { status } = await as(app, person, named)('DELETE', `/tenant/org.brand?tenant=${named ?? 'acme'}`)
    assert.equal(status, !tenant ? 404 : mayWrite ? 204 : 403)
    if (tenant && mayWrite) this.#set(this.#expected.ofTenants, tenant, 'org.brand', undefined)
  }

  #move(): void {
    const person = this.#one(people)
    const tenant = this.#one(tenants)
    const own = (this.#members[person] ??= {})
    for (const tab of this.#tabs) tab.moved(person, tenant)
    if (own[tenant] && this.#random() < 0.6) delete own[tenant]
    else own[tenant] = this.#random() < 0.5 ? manage : []
  }

  /** A person and an organisation of one id are two. */
  async #erase(): Promise<void> {
    const { settings } = await this.#app()
    if (this.#random() < 0.5) {
      await settings.eraseTenant('acme')
      this.#expected.ofTenants.delete('acme')
    } else {
      await settings.eraseUser('acme')
      this.#expected.ofUsers.delete('acme')
    }
  }

  async #read(): Promise<void> {
    const { person: someone, named, tenant: ofSomeone, mayWrite } = this.#someone()
    const path = this.#one(['/me', '/me?all=true', '/tenant', '?scope=3', '/public', 'resolved'])
    const isStranger = path === '/public' && this.#random() < 0.5
    const person = isStranger ? null : someone
    const tenant = isStranger ? named : ofSomeone
    const app = await this.#app()
    if (path === 'resolved') return this.#readResolved(app, someone, { named, tenant })
    const kept: Kept = this.#kept.get(String(person)) ?? new Map()
    this.#kept.set(String(person), kept)
    const known = kept.get(path)
    const conditions = { ...(known && { 'if-none-match': known.tag }) }
    const answer = await as(app, person, named)('GET', path, undefined, conditions)
    const isForMembers = path === '/tenant' || path === '?scope=3'
    if (isForMembers && !(tenant && mayWrite)) {
      const refused = tenant ? 403 : path === '/tenant' ? 404 : 200
      assert.equal(answer.status, refused)
      if (refused === 200) assert.deepEqual(answer.json, [])
      return
    }
    const text = answer.status === 304 ? (known?.text ?? '') : answer.text
    kept.set(path, { tag: String(answer.headers.etag), text })
    this.#noStrangers(text, path === '/public' ? null : person, tenant)
    this.#compare(path, JSON.parse(text), { person: person ?? undefined, tenant })
  }

  async #readResolved(
    app: FastifyInstance,
    person: string,
    { named, tenant }: { readonly named: string | undefined; readonly tenant: string | undefined },
  ): Promise<void> {
    for (const key of keys) {
      const { text, json } = await as(app, person, named)('GET', `/${key}/resolved`)
      this.#noStrangers(text, person, tenant)
      assert.equal(json, this.#holds(key, person, tenant), `${key} of ${person} in ${tenant}`)
    }
  }

  #compare(
    path: string,
    body: unknown,
    { person, tenant }: { readonly person: string | undefined; readonly tenant: string | undefined },
  ): void {
    if (path === '/public')
      return assert.deepEqual(body, { 'org.brand': this.#inherited('org.brand', tenant) })
    const rows = body as readonly {
      readonly key: string
      readonly value: unknown
      readonly inheritedValue: unknown
    }[]
    const isOfTenant = path === '/tenant' || path === '?scope=3'
    for (const { key, value, inheritedValue } of rows) {
      if (!(keys as readonly string[]).includes(key)) continue
      const expected = isOfTenant ? this.#inherited(key, tenant) : this.#holds(key, person, tenant)
      assert.equal(value, expected, `${key} of ${person} in ${tenant} by ${path}`)
      if (path.startsWith('/me')) assert.equal(inheritedValue, this.#inherited(key, tenant))
      if (path === '/tenant') assert.equal(inheritedValue, this.#inherited(key, undefined))
    }
  }

  async #readInProcess(): Promise<void> {
    const { settings } = await this.#app()
    const [person, tenant, key] = [this.#one(people), this.#tenant(), this.#one(keys)]
    const reader = await settings.forUser(person, tenant === undefined ? {} : { tenant })
    const inherits = await settings.forTenant(tenant ?? null)
    assert.equal(reader.get(key as string), this.#holds(key, person, tenant))
    assert.equal(inherits.get(key as string), this.#inherited(key, tenant))
    assert.equal(
      await settings.contract.resolveUserSettingElement(key, person, tenant),
      this.#holds(key, person, tenant),
    )
    if (tenant === undefined) return
    const { ofTenants } = this.#expected
    assert.equal(
      await settings.contract.getSettingAs(key, SettingScope.Tenant, tenant),
      ofTenants.get(tenant)?.get(key) ?? null,
    )
    assert.deepEqual(await settings.publicValues({ tenant }), {
      'org.brand': this.#inherited('org.brand', tenant),
    })
    const { entries } = await settings.history({ tenant, limit: 20 })
    this.#noStrangers(JSON.stringify(entries), null, tenant)
    assert.ok(entries.every((entry) => entry.tenant === tenant && entry.userId === null))
    assert.ok(entries.every(({ actor }) => tenant !== 'acme' || actor !== undefined))
  }

  /** What the host said of nobody does not count for who signs in within the request. */
  async #signIn(): Promise<void> {
    const { person, named, tenant } = this.#someone()
    const app = await this.#app()
    const request = { headers: named === undefined ? {} : { 'settings-tenant': named } }
    const fake = Object.assign(Object.create(null) as object, request) as never
    const stranger = await app.settings.tenantOf(fake)
    assert.equal(stranger?.id, named)
    Object.assign(request.headers, { 'x-caller': person })
    assert.equal((await app.settings.tenantOf(fake))?.id, tenant, `${person} in ${named}`)
  }
}
