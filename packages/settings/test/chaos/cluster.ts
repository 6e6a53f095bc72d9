/** Instances of an application on one PostgreSQL, each behind a proxy of its own, and what must be true of all they did. */
import assert from 'node:assert/strict'
import { type FaultyProxy, startFaultyProxy } from '@fastify-modular/test-support/faulty-proxy'
import { type PostgresServer, startPostgres, type TestDatabase } from '@fastify-modular/test-support/postgres'
import { type SpawnedApp, spawnApp } from '@fastify-modular/test-support/spawn-app'
import { Pool } from 'pg'
import { until } from '../contract/case.ts'
import { type Ack, bulkKeys, type InstancePlan, type InstanceState, userIds, userKeys } from './instance.js'

/** An instance, or several after each other, in one place of the cluster. */
interface Place {
  readonly proxy: FaultyProxy
  booting?: Promise<SpawnedApp>
  app?: SpawnedApp
  /** What the instances of this place have acknowledged. */
  readonly acks: Ack[]
  /** Characters of the log of the present instance that were read. */
  read: number
  downs: number
  boots: number
}

export interface ClusterSummary {
  readonly boots: number
  readonly acknowledged: number
  readonly failed: number
  readonly entries: number
}

export class Cluster {
  readonly #server: PostgresServer
  readonly #database: TestDatabase
  readonly #places: readonly Place[]

  private constructor(server: PostgresServer, database: TestDatabase, places: readonly Place[]) {
    this.#server = server
    this.#database = database
    this.#places = places
  }

  /** A server of its own, because it is killed. Nothing writes yet. */
  static async start(size: number): Promise<Cluster> {
    const server = await startPostgres()
    const database = await server.createDatabase()
    const places = await Promise.all(
      Array.from({ length: size }, async (): Promise<Place> => {
        const proxy = await startFaultyProxy(database.url)
        return { proxy, acks: [], read: 0, downs: 0, boots: 0 }
      }),
    )
    return new Cluster(server, database, places)
  }

  /** Starts an instance where none runs. */
  async boot(index: number): Promise<void> {
    const place = this.#place(index)
    const plan: InstancePlan = {
      database: place.proxy.url,
      name: `i${index}.${place.boots++}`,
    }
    place.booting = spawnApp(new URL('./instance.js', import.meta.url), { args: [JSON.stringify(plan)] })
    place.app = await place.booting
    place.read = 0
  }

  /** Ends an instance, in the middle of its writes or politely. */
  async end(index: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const place = this.#place(index)
    const exit = await place.app?.stop(signal)
    this.#takeLines(place)
    if (signal === 'SIGTERM') assert.deepEqual(exit, { code: 0, signal: null }, place.app?.log())
    delete place.app
  }

  proxy(index: number): FaultyProxy {
    return this.#place(index).proxy
  }

  /** Kills the server, waits until each instance has noticed, and starts it again. */
  async killServer(): Promise<void> {
    const before = this.#places.map(({ downs }) => downs)
    await this.#server.kill('SIGKILL')
    await until('the outage', () =>
      this.#running().every((place) => {
        this.#takeLines(place)
        return place.downs > (before[this.#places.indexOf(place)] ?? 0)
      }),
    )
    await this.#server.restart()
  }

  /** Waits until each instance has so many more writes of each kind acknowledged. */
  async progress(writes: number): Promise<void> {
    const kinds = ['bulk', 'shared', 'user'] as const
    const countsOf = (place: Place): number[] => {
      this.#takeLines(place)
      return kinds.map((kind) => place.acks.filter((ack) => ack.kind === kind).length)
    }
    const start = new Map(this.#running().map((place) => [place, countsOf(place)]))
    for (let more = 1; more <= writes; more++) {
      await until('a write of each kind by each instance', () =>
        [...start].every(([place, counts]) =>
          countsOf(place).every((count, kind) => count >= (counts[kind] ?? 0) + more),
        ),
      )
    }
  }

  /**
   * Ends all faults and all writes. Asserts that nothing acknowledged was lost, no required version was stale, no bulk is
   * half there, the versions of each row rise with its values, the history ends with the table, and that all instances
   * come to what the table has, by themselves.
   */
  async verify(): Promise<ClusterSummary> {
    for (const { proxy } of this.#places) proxy.apply('none')
    await Promise.all(this.#running().map(({ app }) => fetch(`${app?.url}/quiet`, { method: 'POST' })))
    for (const place of this.#running()) this.#takeLines(place)
    const pool = new Pool({ connectionString: this.#database.url, max: 1 })
    try {
      const found = await readDatabase(pool)
      checkChains(found)
      checkRevisions(found)
      for (const { acks } of this.#places) for (const ack of acks) checkAck(found, ack)
      await this.#checkMemories(found)
      const acks = this.#places.reduce((sum, place) => sum + place.acks.length, 0)
      const [boots, failed] = (['boots', 'downs'] as const).map((count) =>
        this.#places.reduce((sum, place) => sum + place[count], 0),
      )
      return { boots: boots ?? 0, acknowledged: acks, failed: failed ?? 0, entries: found.entries.length }
    } finally {
      await pool.end()
    }
  }

  async stop(): Promise<void> {
    for (const { booting } of this.#places) await booting?.catch(() => {})
    for (const { app } of this.#running()) await app?.stop('SIGKILL')
    await Promise.all(this.#places.map(({ proxy }) => proxy.close()))
    await this.#server.stop()
  }

  /** An instance that was told of nothing looks at the database once a second. */
  async #checkMemories({ values }: Found): Promise<void> {
    const inTable = (userId: string, key: string): string | null => values.get(rowName(userId, key)) ?? null
    for (const { app } of this.#running()) {
      let difference = ''
      await until(`an instance to hold what the table has`, async () => {
        const state = (await (await fetch(`${app?.url}/state`)).json()) as InstanceState
        const rows = [
          ...Object.entries(state.shared).map(([key, value]) => ['', key, value] as const),
          ...userIds.flatMap((userId) =>
            userKeys.map((key) => [userId, key, state.users[userId]?.[key]] as const),
          ),
        ]
        difference = rows
          .filter(([userId, key, value]) => value !== inTable(userId, key))
          .map(([userId, key, value]) => `${userId} ${key}: ${String(value)}, not ${inTable(userId, key)}`)
          .join('; ')
        return difference === ''
      }).catch((error: unknown) => assert.fail(`${String(error)}: ${difference}`))
    }
  }

  #running(): Place[] {
    return this.#places.filter(({ app }) => app !== undefined)
  }

  #place(index: number): Place {
    const place = this.#places[index]
    if (!place) throw new Error(`there is no place ${index}`)
    return place
  }

  /** Reads what an instance has printed since the last time. The line that it was printing when it was killed may be cut. */
  #takeLines(place: Place): void {
    const log = place.app?.log() ?? ''
    const end = log.lastIndexOf('\n') + 1
    for (const line of log.slice(place.read, end).split('\n')) {
      if (line.startsWith('ack ')) place.acks.push(JSON.parse(line.slice(4)))
      else if (line === 'down') place.downs++
      else
        assert.ok(
          line === '' || line.startsWith('http'),
          `an instance says: ${line}\n${log.slice(end - 2000)}`,
        )
    }
    place.read = Math.max(place.read, end)
  }
}

interface Entry {
  readonly revision: number
  readonly userId: string
  readonly key: string
  readonly oldValue: string | null
  readonly newValue: string | null
}

interface Found {
  /** The number of the last shared write. */
  readonly revision: number
  /** By row. */
  readonly values: ReadonlyMap<string, string>
  readonly entries: readonly Entry[]
  readonly byRow: ReadonlyMap<string, readonly Entry[]>
  readonly byValue: ReadonlyMap<string, readonly Entry[]>
}

async function readDatabase(pool: Pool): Promise<Found> {
  const meta = await pool.query(`select value from settings_meta where name = 'revision'`)
  const values = await pool.query('select owner, key, value from settings_value where value is not null')
  const { rows } = await pool.query('select * from settings_history order by revision')
  const decode = (text: string | null): string | null => (text === null ? null : JSON.parse(text))
  const entries = rows.map((row): Entry => ({
    revision: Number(row.revision),
    userId: row.owner,
    key: row.key,
    oldValue: decode(row.old_value),
    newValue: decode(row.new_value),
  }))
  return {
    revision: Number(String(meta.rows[0]?.value).split('-')[0]),
    values: new Map(values.rows.map((row) => [rowName(row.owner, row.key), JSON.parse(row.value)])),
    entries,
    byRow: group(entries, ({ userId, key }) => rowName(userId, key)),
    byValue: group(entries, ({ newValue }) => newValue ?? ''),
  }
}

/** Each change of a row begins with what the one before made, and the last one made what is stored. */
function checkChains({ byRow, values }: Found): void {
  for (const [row, entries] of byRow) {
    let value: Entry['newValue'] = null
    for (const entry of entries) {
      assert.equal(
        entry.oldValue,
        value,
        `${row}, version ${entry.revision}: its change is of something else`,
      )
      value = entry.newValue
    }
    assert.equal(values.get(row) ?? null, value, `${row} is not what its history ends with`)
  }
  for (const row of values.keys()) assert.ok(byRow.has(row), `${row} has no history`)
}

/** From here on, versions are those of users' rows. */
const userVersions = 1e12

/** One write for each revision, all of a bulk or nothing. */
function checkRevisions({ revision, entries }: Found): void {
  const shared = group(
    entries.filter((entry) => entry.revision < userVersions),
    (entry) => String(entry.revision),
  )
  assert.deepEqual(
    [...shared.keys()].map(Number),
    Array.from({ length: revision }, (_, index) => index + 1),
  )
  for (const [number, changes] of shared) {
    const isBulk = changes.some(({ key }) => bulkKeys.includes(key))
    assert.equal(changes.length, isBulk ? bulkKeys.length : 1, `revision ${number} is half a write`)
    assert.equal(new Set(changes.map(({ newValue }) => newValue)).size, 1)
  }
}

function checkAck({ byRow, byValue }: Found, ack: Ack): void {
  const what = JSON.stringify(ack)
  const { kind, userId, key, value, version, since } = ack
  const entries = byRow.get(rowName(userId, key)) ?? []
  if (kind === 'bulk') {
    assert.equal(byValue.get(value ?? '')?.length, bulkKeys.length, `lost: ${what}`)
    return
  }
  const required = entries.find(({ revision }) => revision === since)
  const entry =
    value === null
      ? entries.find(({ oldValue, newValue }) => newValue === null && oldValue === required?.newValue)
      : byValue.get(value)?.find((each) => each.key === key && each.userId === userId)
  assert.ok(entry, `lost: ${what}`)
  if (value !== null) assert.equal(entry.revision, version, `another version: ${what}`)
  if (since !== undefined)
    assert.equal(entry.oldValue, required?.newValue, `a stale version was accepted: ${what}`)
}

function rowName(userId: string, key: string): string {
  return `${userId} ${key}`
}

function group<T>(list: readonly T[], nameOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of list) {
    const name = nameOf(item)
    const known = groups.get(name)
    if (known) known.push(item)
    else groups.set(name, [item])
  }
  return groups
}
