/** A database that is restored while this process waits for one of its answers. */
import { setImmediate } from 'node:timers/promises'
import { SettingScope } from '@fastify-modular/settings'
import type { WriteRequest } from '#src/store/store.js'
import { type Test, test } from 'tap'
import { until } from '../contract/case.ts'
import { createApp, definitions, logInto } from '../support/app.ts'
import { backTo, type SqlEngine, sqlEngines } from '../support/sql-engines.ts'

const { System, Application } = SettingScope

type Call = 'read' | 'news' | 'write'

/** Where a call is held: before the database gets it, or with its answer. */
type Moment = 'on its way' | 'with its answer'

interface Held {
  /** Resolves when the call is there. */
  readonly reached: Promise<void>
  readonly release: () => void
}

/** An application with one value of revision 1. */
async function createWritten(t: Test, engine: SqlEngine) {
  const app = await createHeld(t, engine)
  await app.settings.contract.setSetting('mail.port', 25, System)
  return app
}

/** An application whose calls of the database the test holds and whose looks it begins. */
async function createHeld(t: Test, { store, run }: SqlEngine) {
  const database = store()
  const lines: string[] = []
  const calls: Call[] = []
  const holds = new Map<Call, { readonly moment: Moment; readonly wait: () => Promise<void> }>()
  let hint = (): void => {}

  async function pass<T>(call: Call, ask: () => Promise<T>): Promise<T> {
    calls.push(call)
    const { moment, wait = async () => {} } = holds.get(call) ?? {}
    holds.delete(call)
    if (moment === 'on its way') await wait()
    const answer = await ask()
    if (moment === 'with its answer') await wait()
    return answer
  }

  const { read, news, write } = database.shared
  const watch = database.watch?.bind(database)
  Object.assign(database.shared, {
    read: () => pass('read', read),
    news: (after: number, limit: number) => pass('news', () => news(after, limit)),
    write: (request: WriteRequest) => pass('write', () => write(request)),
  })
  Object.assign(database, {
    watch(given: Parameters<NonNullable<typeof watch>>[0]) {
      hint = () => given.onHint()
      return watch?.(given)
    },
  })
  const { settings } = await createApp(t, { store: database }, logInto(lines))
  const state = async () => ({ memory: settings.status, database: await news(0, 9), calls })

  return {
    settings,
    calls,
    lines,
    hint: () => hint(),
    /** Holds the next call of this kind. */
    hold(call: Call, moment: Moment): Held {
      let release = (): void => {}
      let reach = (): void => {}
      const released = new Promise<void>((resolve) => (release = resolve))
      const reached = new Promise<void>((resolve) => (reach = resolve))
      holds.set(call, { moment, wait: () => (reach(), released) })
      return { reached, release }
    },
    set: (key: 'app.title' | 'app.banner' | 'app.support_email', value: string) =>
      settings.contract.setSetting(key, value, Application),
    /** Writes and waits until the database has it: the write itself may wait for the next look. */
    async commit(key: 'app.title' | 'app.banner' | 'app.support_email', value: string) {
      const { revision } = await news(0, 0)
      const written = settings.contract.setSetting(key, value, Application)
      await until('the write', async () => (await news(0, 0)).revision > revision, state)
      return () => written
    },
    /** Goes back to revision 1; then another process writes so many times. */
    async restore(writes: number): Promise<void> {
      await run(...backTo(1))
      if (writes === 0) return
      const other = await createApp(t, { store: store() })
      for (let write = 1; write <= writes; write++)
        await other.settings.contract.setSetting('app.banner', `kept ${write}`, Application)
    },
    /** Looks until a look has ended that began after this call. */
    async look(): Promise<void> {
      for (let look = 1; look <= 2; look++) {
        const { checkedAt } = settings.status
        await until('the next millisecond', () => Date.now() > checkedAt)
        hint()
        await until('a look', () => settings.status.checkedAt > checkedAt, state)
      }
    },
    /** What is shown of the lost past, and of what came later. */
    shown: () => ({
      title: settings.get(definitions.title),
      banner: settings.get(definitions.banner),
      revision: settings.status.revision,
    }),
  }
}

/** What is shown when the lost past is gone. */
function kept(writes: number) {
  return {
    title: 'Fastify Modular',
    banner: writes === 0 ? null : `kept ${writes}`,
    revision: 1 + writes,
  }
}

for (const [name, open] of Object.entries(sqlEngines)) {
  test(`${name}: a write during a look is not taken for a restore`, async (t) => {
    const app = await createWritten(t, await open(t))
    await app.look()
    const reads = app.calls.filter((call) => call === 'read').length
    const held = app.hold('news', 'with its answer')
    app.hint()
    await held.reached
    await app.set('app.title', 'new')
    held.release()
    await app.look()
    t.match(app.shown(), { title: 'new', revision: 2 })
    t.equal(app.calls.filter((call) => call === 'read').length, reads)
    t.same(
      app.lines.filter((line) => line.includes('went back')),
      [],
    )
  })

  for (const moment of ['on its way', 'with its answer'] as const)
    for (const writes of [0, 1, 3])
      test(`${name}: a write while all is being read is gone after a restore (read ${moment}, ${writes} writes later)`, async (t) => {
        const app = await createWritten(t, await open(t))
        const held = app.hold('read', moment)
        const refreshed = app.settings.refresh()
        await held.reached
        const written = await app.commit('app.title', 'lost')
        await app.restore(writes)
        held.release()
        await Promise.all([refreshed, written()])
        await app.look()
        t.same(app.shown(), kept(writes))
      })

  test(`${name}: a write on top of a restore hides no write that was made while all was being read`, async (t) => {
    const app = await createWritten(t, await open(t))
    const read = app.hold('read', 'with its answer')
    const refreshed = app.settings.refresh()
    await read.reached
    const lost = await app.commit('app.title', 'lost')
    await app.restore(0)
    read.release()
    await Promise.all([refreshed, lost()])
    const look = app.hold('news', 'on its way')
    app.hint()
    await look.reached
    const written = await app.commit('app.banner', 'kept 1')
    look.release()
    await written()
    await app.look()
    t.same(app.shown(), kept(1))
  })

  for (const writes of [0, 1, 3])
    test(`${name}: a write while a look is on its way is gone after a restore (${writes} writes later)`, async (t) => {
      const app = await createWritten(t, await open(t))
      const held = app.hold('news', 'on its way')
      app.hint()
      await held.reached
      await app.set('app.title', 'lost')
      await app.restore(writes)
      held.release()
      await app.look()
      t.same(app.shown(), kept(writes))
    })

  for (const writes of [0, 1, 3])
    test(`${name}: a write during the first look is gone after a restore (${writes} writes later)`, async (t) => {
      const app = await createHeld(t, await open(t))
      const held = app.hold('news', 'on its way')
      app.hint()
      await held.reached
      await app.settings.contract.setSetting('mail.port', 25, System)
      await app.set('app.title', 'lost')
      await app.restore(writes)
      held.release()
      await app.look()
      t.same(app.shown(), kept(writes))
    })

  test(`${name}: of two writes above what memory has, the one of the lost past is gone`, async (t) => {
    const engine = await open(t)
    const app = await createWritten(t, engine)
    const other = await createApp(t, { store: engine.store() })
    await other.settings.contract.setSetting('app.banner', 'lost, too', Application)
    const held = app.hold('news', 'on its way')
    const lost = await app.commit('app.title', 'lost')
    await held.reached
    await app.restore(3)
    const written = await app.commit('app.support_email', 'a@example.org')
    held.release()
    await Promise.all([lost(), written()])
    await app.look()
    t.same(app.shown(), { ...kept(3), revision: 5 })
    t.equal(app.settings.get(definitions.email), 'a@example.org')
  })

  test(`${name}: a write whose answer comes after a restore was read is gone`, async (t) => {
    const app = await createWritten(t, await open(t))
    const held = app.hold('write', 'with its answer')
    const written = app.set('app.title', 'lost')
    await held.reached
    await app.restore(3)
    await app.look()
    held.release()
    await written
    await app.look()
    t.same(app.shown(), kept(3))
  })

  test(`${name}: a late write never covers a newer one of another process while all is being read`, async (t) => {
    const engine = await open(t)
    const app = await createWritten(t, engine)
    const other = await createApp(t, { store: engine.store() })
    const seen: unknown[] = []
    app.settings.on('app.title', (value) => void seen.push(value))
    const late = app.hold('write', 'with its answer')
    const written = app.set('app.title', 'late')
    await late.reached
    await other.settings.contract.setSetting('app.title', 'newer', Application)
    await app.look()
    const read = app.hold('read', 'with its answer')
    const refreshed = app.settings.refresh()
    await read.reached
    late.release()
    await setImmediate()
    read.release()
    await Promise.all([refreshed, written])
    t.same(seen, ['newer'])
  })

  test(`${name}: a write that was taken without those before it is gone after a restore`, async (t) => {
    const engine = await open(t)
    const app = await createWritten(t, engine)
    const other = await createApp(t, { store: engine.store() })
    await other.settings.contract.setSetting('app.banner', 'lost, too', Application)
    const held = app.hold('news', 'on its way')
    await app.set('app.title', 'lost') // the look takes longer than the write waits
    await app.restore(1)
    t.match(app.shown(), { title: 'lost', revision: 1 })
    held.release()
    await app.look()
    t.same(app.shown(), kept(1))
  })

  test(`${name}: a restore is noticed where the history that proves it was trimmed`, async (t) => {
    const engine = await open(t)
    const app = await createWritten(t, engine)
    await app.set('app.title', 'lost')
    await app.restore(3)
    // As trimming does, which leaves the newest entry of a value.
    await engine.run('delete from settings_history where revision in (2, 3)')
    await app.look()
    t.same(app.shown(), kept(3))
  })
}
