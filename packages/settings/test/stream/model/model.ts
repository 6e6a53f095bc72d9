/** Two instances on one database, their clients, what may happen to them, and what must be true at the end. */
import assert from 'node:assert/strict'
import { type SpawnedApp, spawnApp } from '@fastify-modular/test-support/spawn-app'
import { until } from '../../contract/case.ts'
import type { SqlEngine } from '../../support/sql-engines.ts'
import { Client } from './client.js'
import { callers, words } from './instance.js'

type Database = Pick<SqlEngine, 'place' | 'run'>

const tables = ['settings_value', 'settings_history', 'settings_meta']

export class Model {
  readonly #database: Database
  readonly #instances: (SpawnedApp | undefined)[] = [undefined, undefined]
  readonly #clients: readonly Client[]
  readonly #random: () => number
  #isSaved = false
  /** What a client saw that must not be. */
  #broken: Error | undefined

  private constructor(database: Database, random: () => number) {
    this.#database = database
    this.#random = random
    const port = (): number | undefined => {
      const running = this.#instances.flatMap((instance) => instance?.port ?? [])
      return running[Math.floor(random() * running.length)]
    }
    // As many strangers as one instance admits from one address, and less than eight of each caller.
    const strangers = Array.from({ length: 28 }, () => undefined)
    this.#clients = [...strangers, ...callers.flatMap((caller) => Array(6).fill(caller))].map(
      (caller) => new Client(caller, port),
    )
    for (const client of this.#clients)
      client.isEnded.catch((error: unknown) => (this.#broken ??= error instanceof Error ? error : undefined))
  }

  /** One hundred clients. @param random from 0 to 1 */
  static async start(database: Database, random: () => number): Promise<Model> {
    const model = new Model(database, random)
    await model.boot(0)
    await model.boot(1)
    return model
  }

  async boot(index: number): Promise<void> {
    const args = [this.#database.place]
    this.#instances[index] = await spawnApp(new URL('./instance.js', import.meta.url), { args })
  }

  /** Ends an instance in the middle of everything, or politely. */
  async end(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const instance = this.#instances[index]
    this.#instances[index] = undefined
    const exit = await instance?.stop(signal)
    if (signal === 'SIGTERM') assert.deepEqual(exit, { code: 0, signal: null }, instance?.log())
  }

  /** Cuts the connections of this share of the clients. */
  cut(share: number): void {
    for (const client of this.#clients) if (this.#random() < share) client.cut()
  }

  /** Takes a backup of the database. */
  async save(): Promise<void> {
    await this.#exclusively(
      tables.flatMap((table) => [
        `drop table if exists saved_${table}`,
        `create table saved_${table} as select * from ${table}`,
      ]),
    )
    this.#isSaved = true
  }

  /** Restores the last backup under the running instances. */
  async restore(): Promise<void> {
    if (!this.#isSaved) return this.save()
    await this.#exclusively(
      tables.flatMap((table) => [
        `delete from ${table}`,
        `insert into ${table} select * from saved_${table}`,
      ]),
    )
  }

  /** Ends all connections of the instances to a server. */
  async disconnect(): Promise<void> {
    if (!this.#isServer) return
    await this.#database.run(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
  }

  /** Waits until each client has had so many more events. */
  async progress(events: number): Promise<void> {
    const before = this.#clients.map(({ count }) => count.events)
    await this.#until('an event for each client', () =>
      this.#clients.every(({ count }, index) => count.events >= (before[index] ?? 0) + events),
    )
  }

  /** Ends the writes. Asserts that each client comes to what the database has, and that none saw what it must not. */
  async verify() {
    const running = this.#instances.flatMap((instance) => instance ?? [])
    await Promise.all(running.map(({ url }) => fetch(`${url}/quiet`, { method: 'POST' })))
    const own = this.#clients.map(({ count }) => count.own)
    const [first] = running
    assert.ok(first)
    await this.#write(first, '', { key: 'public.a', scope: 1, value: `${words.public} last` })
    for (const caller of callers)
      await this.#write(first, '/me', { key: 'own.a', value: `${words.own} last` }, caller)
    const revision = await this.#revision(first)
    for (const caller of [undefined, callers[0]]) {
      const expected = await listOf(first, caller)
      const clients = this.#clients.filter(
        (client) => (client.caller === undefined) === (caller === undefined),
      )
      await this.#until('all clients to have the last values', () =>
        clients.every((client) => isSame(client, expected) && client.id.startsWith(`${revision}-`)),
      )
    }
    await this.#until('all clients to be told of their own values', () =>
      this.#clients.every(
        ({ caller, count }, index) => caller === undefined || count.own > (own[index] ?? 0),
      ),
    )
    const sum = (name: keyof Client['count']) =>
      this.#clients.reduce((total, { count }) => total + count[name], 0)
    return { revision, events: sum('events'), snapshots: sum('snapshots'), streams: sum('streams') }
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#clients.map((client) => client.stop()))
    for (const index of this.#instances.keys()) await this.end(index, 'SIGKILL')
  }

  async #write({ url }: SpawnedApp, path: string, body: object, caller = 'caller-0'): Promise<void> {
    const headers = { 'content-type': 'application/json', 'x-caller': caller }
    await this.#until('the last write', async () => {
      const request = { method: 'PUT', headers, body: JSON.stringify(body) }
      return (await fetch(`${url}/api/settings${path}`, request)).status === 204
    })
  }

  async #revision({ url }: SpawnedApp): Promise<number> {
    const headers = { 'x-caller': 'caller-0' }
    const answer = await fetch(`${url}/api/settings/public.a?scope=1`, { headers })
    return ((await answer.json()) as { version: number }).version
  }

  /** A writer may be ahead in another order: then the server ends one of both, and it is tried again. */
  async #exclusively(statements: readonly string[]): Promise<void> {
    const lock = this.#isServer ? [`lock table ${tables.join(', ')} in access exclusive mode`] : []
    for (let tries = 1; ; tries++) {
      try {
        return await this.#database.run(...lock, ...statements)
      } catch (error) {
        if (tries === 20) throw error
      }
    }
  }

  get #isServer(): boolean {
    return this.#database.place.startsWith('postgres:')
  }

  async #until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
    await until(what, () => this.#broken !== undefined || isTrue())
    if (this.#broken) throw this.#broken
  }
}

async function listOf({ url }: SpawnedApp, caller: string | undefined): Promise<Map<string, unknown>> {
  const path = caller === undefined ? '/public' : ''
  const headers = caller === undefined ? undefined : { 'x-caller': caller }
  const list = await (await fetch(`${url}/api/settings${path}`, headers && { headers })).json()
  const entries = Array.isArray(list)
    ? list.map(({ key, value }): [string, unknown] => [key, value])
    : Object.entries(list as object)
  return new Map(entries)
}

function isSame({ rows, wentBack }: Client, expected: ReadonlyMap<string, unknown>): boolean {
  return (
    !wentBack &&
    rows.size === expected.size &&
    [...rows.values()].every(({ key, value = null }) => expected.get(key) === value)
  )
}
