/**
 * An instance of an application whose users write without a pause, to be killed. It prints its address, `ack` and an `Ack`
 * for each write that was acknowledged, `down` where the database could not answer, and `broken` for what must never be.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import Fastify, { type FastifyInstance } from 'fastify'

/** The command line of an instance. */
export interface InstancePlan {
  readonly database: string
  readonly name: string
}

/** A write that was acknowledged. Values are written once. */
export interface Ack {
  readonly kind: 'bulk' | 'shared' | 'user'
  readonly userId: string
  /** Empty for a bulk. */
  readonly key: string
  readonly value: string | null
  /** Not for a bulk. */
  readonly version?: number
  /** The version that the write required. */
  readonly since?: number
}

/** What an instance holds in memory. */
export interface InstanceState {
  readonly shared: Readonly<Record<string, unknown>>
  readonly users: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export const bulkKeys = Array.from({ length: 8 }, (_, index) => `bulk.${index}`)
export const sharedKeys = ['shared.a', 'shared.b']
export const userKeys = ['user.a', 'user.b', 'user.c']
/** Users of all instances. */
export const userIds = ['u0', 'u1', 'u2', 'u3', 'u4', 'u5']

async function main(plan: InstancePlan): Promise<void> {
  const app = await createApp(plan)
  const instance = new Instance(app, plan)
  app.get('/state', () => instance.state())
  app.post('/quiet', () => instance.stop())
  process.once('SIGTERM', () => void instance.stop().then(() => app.close()))
  print(await app.listen({ host: '127.0.0.1', port: 0 }))
  instance.start()
}

async function createApp({ database }: InstancePlan): Promise<FastifyInstance> {
  const text = (scope: 1 | 2) => (key: string) => setting.text(key, { displayName: key, scope })
  const definitions = [
    ...[...bulkKeys, ...sharedKeys].map(text(SettingScope.Application)),
    ...userKeys.map(text(SettingScope.User)),
  ]
  const store = postgres(
    { connectionString: database },
    { pollInterval: 1000, timeouts: { connect: 10_000, query: 6000, probe: 1000 } },
  )
  const app = Fastify({ pluginTimeout: 60_000 })
  await app.register(settings, {
    definitions,
    store,
    history: false,
    findCaller: ({ headers }) => ({ id: String(headers['x-caller']), isAdmin: true }),
  })
  return app
}

/** A row that a writer may write. */
interface Row {
  readonly kind: 'shared' | 'user'
  readonly userId: string
  readonly key: string
}

class Instance {
  readonly #app: FastifyInstance
  readonly #plan: InstancePlan
  readonly #loops: Promise<void>[] = []
  #isStopping = false
  #count = 0
  #revision = 0

  constructor(app: FastifyInstance, plan: InstancePlan) {
    this.#app = app
    this.#plan = plan
  }

  start(): void {
    const { name } = this.#plan
    const shared = sharedKeys.map((key): Row => ({ kind: 'shared', userId: 'admin', key }))
    const users = userIds.flatMap((userId) => userKeys.map((key): Row => ({ kind: 'user', userId, key })))
    // Nobody else writes these: what is read is what was written here.
    const own = userKeys.map((key): Row => ({ kind: 'user', userId: `own ${name}`, key }))
    this.#repeat(() => this.#writeBulk())
    this.#repeat(() => this.#write(oneOf(shared)))
    this.#repeat(() => this.#write(oneOf(users)))
    this.#repeat(() => this.#write(oneOf(users)))
    this.#repeat(async () => {
      const row = oneOf(own)
      const value = await this.#write(row)
      if (value !== undefined) await this.#checkOwn(row, value)
    })
    this.#repeat(() => this.#look())
  }

  /** Resolves when no write is under way. */
  async stop(): Promise<object> {
    this.#isStopping = true
    await Promise.all(this.#loops)
    return {}
  }

  async state(): Promise<InstanceState> {
    const { settings } = this.#app
    const valuesOf = (get: (key: string) => unknown, keys: readonly string[]) =>
      Object.fromEntries(keys.map((key) => [key, get(key)]))
    const users: Record<string, Record<string, unknown>> = {}
    for (const userId of userIds) {
      const own = await settings.forUser(userId)
      users[userId] = valuesOf((key) => own.get(key), userKeys)
    }
    return { shared: valuesOf((key) => settings.get(key), [...bulkKeys, ...sharedKeys]), users }
  }

  #repeat(task: () => Promise<unknown>): void {
    this.#loops.push(
      (async () => {
        while (!this.#isStopping) {
          await task().catch((error: unknown) => {
            if (Reflect.get(Object(error), 'statusCode') === 503) return print('down')
            return print(`broken by ${error instanceof Error ? error.stack : String(error)}`)
          })
          await sleep(10 * Math.random())
        }
      })(),
    )
  }

  #newValue(): string {
    return `${this.#plan.name} ${this.#count++}`
  }

  async #writeBulk(): Promise<void> {
    const value = this.#newValue()
    await this.#app.settings.setMany(bulkKeys.map((key) => ({ key, scope: 1, value })))
    acknowledge({ kind: 'bulk', userId: '', key: '', value })
  }

  /** Returns what was written; undefined for a write that was refused. */
  async #write(row: Row): Promise<string | null | undefined> {
    const since = Math.random() < 0.5 ? await this.#versionOf(row) : undefined
    // Only what is set can be cleared, and an acknowledged clearing is then a change.
    const isClearing = row.kind === 'user' && since !== undefined && Math.random() < 0.4
    const value = isClearing ? null : this.#newValue()
    const condition = since === undefined ? undefined : { 'if-match': `"r${since}"` }
    const { kind, userId, key } = row
    const path = kind === 'user' ? '/me' : ''
    const body = { key, value, ...(kind === 'shared' && { scope: 1 }) }
    const answer = isClearing
      ? await this.#request(row, 'DELETE', `${path}/${key}`, undefined, condition)
      : await this.#request(row, 'PUT', path, body, condition)
    if (answer.statusCode === 412 && since !== undefined) return undefined
    if (answer.statusCode !== 204) throw failureOf(answer)
    const version = versionIn(answer)
    acknowledge({ kind, userId: kind === 'user' ? userId : '', key, value, version, ...(since && { since }) })
    return value
  }

  /** The version of a row that is set. */
  async #versionOf(row: Row): Promise<number | undefined> {
    const answer = await this.#request(row, 'GET', `/${row.key}?scope=${row.kind === 'user' ? 2 : 1}`)
    if (answer.statusCode !== 200) throw failureOf(answer)
    return versionIn(answer) || undefined
  }

  #request(
    { userId }: Row,
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    payload?: object,
    headers: Record<string, string> = {},
  ) {
    const url = `/api/settings${path}`
    return this.#app.inject({
      method,
      url,
      headers: { ...headers, 'x-caller': userId },
      ...(payload && { payload }),
    })
  }

  async #checkOwn({ userId, key }: Row, value: string | null): Promise<void> {
    const found = (await this.#app.settings.forUser(userId)).get(key)
    if (found !== value) print(`broken: read ${String(found)} after writing ${String(value)}`)
  }

  /** What memory must never show: half a bulk, or a revision that goes back. */
  async #look(): Promise<void> {
    const { settings } = this.#app
    const values = new Set(bulkKeys.map((key) => settings.get(key)))
    if (values.size > 1) print(`broken: half a bulk, ${[...values].join(', ')}`)
    const { revision } = settings.status
    if (revision < this.#revision) print(`broken: revision ${revision} after ${this.#revision}`)
    this.#revision = revision
  }
}

interface Answer {
  readonly statusCode: number
  readonly payload: string
  readonly headers: Readonly<Record<string, unknown>>
}

function failureOf({ statusCode, payload }: Answer): Error {
  return Object.assign(new Error(`${statusCode}: ${payload}`), { statusCode })
}

function versionIn({ headers }: Answer): number {
  return Number(/^"r(\d+)"$/.exec(String(headers['etag']))?.[1])
}

function acknowledge(ack: Ack): void {
  print(`ack ${JSON.stringify(ack)}`)
}

/** A pipe is written at once: what the parent reads was acknowledged before a kill. */
function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function oneOf<T>(list: readonly T[]): T {
  const [chosen] = list.slice(Math.floor(Math.random() * list.length))
  if (chosen === undefined) throw new Error('nothing to choose from')
  return chosen
}

const argument = process.argv[2]
if (process.argv[1] === import.meta.filename && argument !== undefined) await main(JSON.parse(argument))
