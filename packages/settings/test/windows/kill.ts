/** Changes that have to be kept, by instances that are killed, and what must be true of them when all is up again. */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { type SpawnedApp, spawnApp } from '@fastify-modular/test-support/spawn-app'
import { portOf, type SettingsStore } from '#src/store/store.js'
import type { StoredWindow } from '#src/store/windows.js'
import { silentLog, until } from '../contract/case.ts'
import { type InstancePlan, type Kind, keysOf, kinds } from './instance.ts'

/** Seconds of each window, and milliseconds before it is due within which what happens to it may come too late. */
const within = 5
const late = 500

/** Kinds that are left to the second deployment. */
const lastKinds: readonly Kind[] = ['locked', 'removed', 'kept and cut off']

/** What became of the windows of a run. */
interface Outcome {
  readonly states: Readonly<Record<string, number>>
  /** Milliseconds from due until put back, of windows that were due while an instance was up. */
  readonly delays: readonly number[]
}

interface Opened {
  readonly kind: Kind
  readonly keys: readonly [string, string]
  readonly revision: number
  readonly due: number
  /** The keep of it was acknowledged. */
  isKept: boolean
  /** What happens to it came after it was due, or may not have come: any end is right. */
  isLate: boolean
}

interface RunInit {
  /** A file, or the URL of a database. */
  readonly database: string
  /** Opens one more store on it. */
  readonly store: () => SettingsStore
  /** Windows of each kind; those of all kinds together are at most a hundred. */
  readonly copies: number
  readonly random: () => number
}

/** Two instances open windows and are killed; then those of a second deployment find what is due. */
export async function runWindows({ database, store, copies, random }: RunInit): Promise<Outcome> {
  const start = (deployment: 1 | 2): Promise<SpawnedApp> => {
    const plan: InstancePlan = { database, copies, deployment }
    return spawnApp(new URL('./instance.js', import.meta.url), { args: [JSON.stringify(plan)] })
  }
  const apps: SpawnedApp[] = []
  try {
    apps.push(await start(1), await start(1))
    const [first, second] = apps.map(({ url }) => new Api(url))
    assert.ok(first && second)
    const opened = await openAll(
      first,
      kinds.filter((kind) => !lastKinds.includes(kind)),
      copies,
    )
    const killing = pause(200 * random()).then(() => apps[0]?.stop('SIGKILL'))
    await Promise.all(opened.map((window) => act(window, random() < 0.3 ? first : second, second)))
    await killing
    apps.push(await start(1))
    await untilSettled(store, opened)
    const third = new Api(apps[2]?.url ?? '')
    const last = await openAll(third, lastKinds, copies)
    const cut = last.filter(({ kind }) => kind === 'kept and cut off')
    const keeping = Promise.all(cut.map((window) => keep(window, third)))
    await pause(30 * random())
    const killed = Date.now()
    await Promise.all([apps[1]?.stop('SIGKILL'), apps[2]?.stop('SIGKILL')])
    await keeping
    for (const window of last) window.isLate ||= killed > window.due - late
    apps.push(await start(2), await start(2))
    await untilSettled(store, last)
    return await judge(store, [...opened, ...last])
  } finally {
    await Promise.all(apps.map((app) => app.stop('SIGKILL')))
  }
}

class Api {
  readonly #url: string

  constructor(url: string) {
    this.#url = `${url}/api/settings`
  }

  /** The status and the body; undefined where the instance did not answer. */
  async send(method: 'PUT' | 'POST', path: string, body: object) {
    try {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(this.#url + path, { method, headers, body: JSON.stringify(body) })
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, json: text === '' ? {} : JSON.parse(text) }
    } catch {
      return undefined
    }
  }

  write(values: Readonly<Record<string, number>>, query = '') {
    const body = Object.entries(values).map(([key, value]) => ({ key, scope: 1, value }))
    return this.send('PUT', `/bulk${query}`, body)
  }
}

function openAll(api: Api, wanted: readonly Kind[], copies: number): Promise<readonly Opened[]> {
  const all = wanted.flatMap((kind) => Array.from({ length: copies }, (_, copy) => ({ kind, copy })))
  return Promise.all(
    all.map(async ({ kind, copy }) => {
      const keys = keysOf(kind, copy)
      const [some, most] = keys
      const values = kind === 'broken rule' ? { [most]: 5 } : { [some]: 2, [most]: 2 }
      const answer = await api.write(values, `?confirmWithin=${within}`)
      assert.equal(answer?.status, 204, `${kind}: ${JSON.stringify(answer?.json)}`)
      const revision = Number(answer.headers.get('location')?.split('/').at(-1))
      const due = Date.parse(answer.headers.get('settings-confirm-by') ?? '')
      return { kind, keys, revision, due, isKept: false, isLate: false }
    }),
  )
}

/** What somebody does about a window; `steady` is an instance that is not killed meanwhile. */
async function act(window: Opened, api: Api, steady: Api): Promise<void> {
  const { kind, keys, revision, due } = window
  const [some, most] = keys
  const finish = (isDone: boolean): void => {
    window.isLate ||= !isDone || Date.now() > due - late
  }
  if (kind === 'kept') return keep(window, api)
  if (kind === 'kept when due') {
    await pause(Math.max(0, due - Date.now() - 20))
    window.isLate = true
    return keep(window, steady)
  }
  if (kind === 'extended') {
    const answer = await api.send('POST', `/changes/${revision}/keep`, { within: within + 1 })
    return finish(answer?.status === 200)
  }
  if (kind === 'second window') {
    const answer = await steady.write({ [some]: 3 }, `?confirmWithin=${within}`)
    finish(true)
    if (!window.isLate) assert.deepEqual([answer?.status, answer?.json.revision], [409, revision])
  }
  if (kind === 'reverted') finish((await api.send('POST', `/changes/${revision}/revert`, {}))?.status === 200)
  if (kind === 'one overwritten') finish((await api.write({ [some]: 9 }))?.status === 204)
  if (kind === 'all overwritten') finish((await api.write({ [some]: 9, [most]: 9 }))?.status === 204)
  if (kind === 'broken rule') finish((await api.write({ [some]: 5 }))?.status === 204)
}

async function keep(window: Opened, api: Api): Promise<void> {
  const answer = await api.send('POST', `/changes/${window.revision}/keep`, {})
  window.isKept = answer?.status === 200
  if (!window.isKept) window.isLate = true
}

async function withStore<T>(
  store: () => SettingsStore,
  run: (port: ReturnType<typeof portOf>) => Promise<T>,
) {
  const port = portOf(store())
  await port.open({ log: silentLog })
  try {
    return await run(port)
  } finally {
    await port.close()
  }
}

function untilSettled(store: () => SettingsStore, opened: readonly Opened[]): Promise<void> {
  return withStore(store, (port) =>
    until('all to be settled', async () => {
      const open = (await port.windows()).windows.map(({ revision }) => revision)
      return !opened.some(({ revision }) => open.includes(revision))
    }),
  )
}

const expected: Readonly<Record<Kind, StoredWindow['state']>> = {
  'left alone': 'put-back',
  kept: 'kept',
  extended: 'put-back',
  'one overwritten': 'conflicted',
  'all overwritten': 'conflicted',
  'broken rule': 'conflicted',
  'second window': 'put-back',
  'kept when due': 'put-back',
  reverted: 'put-back',
  locked: 'conflicted',
  removed: 'conflicted',
  'kept and cut off': 'kept',
}

/** Reads what the database has, and asserts that it is what was promised. */
function judge(store: () => SettingsStore, opened: readonly Opened[]): Promise<Outcome> {
  return withStore(store, async (port) => {
    const states: Record<string, number> = {}
    const delays: number[] = []
    const { rows } = await port.shared.read()
    for (const window of opened) {
      const { kind, keys, revision, due } = window
      const [found] = (await port.windows(revision)).windows
      const written = await port.history({ revision, limit: 10 })
      const histories = await Promise.all(keys.map((key) => port.history({ key, limit: 10 })))
      const back = histories
        .flat()
        .filter(({ origin, at }) => origin === 'expired' && at >= (written[0]?.at ?? 0))
      const what = `${kind}: ${JSON.stringify({ window, found, back })}`
      assert.ok(found && found.state !== 'open', what)
      if (window.isKept) assert.equal(found.state, 'kept', what)
      else if (!window.isLate) assert.equal(found.state, expected[kind], what)
      checkEnd({ found, written, back, what, valueOf: (key) => rows.find((row) => row.key === key) })
      states[`${kind}: ${found.state}`] = (states[`${kind}: ${found.state}`] ?? 0) + 1
      const [first] = back
      if (first && (kind === 'left alone' || kind === 'second window')) delays.push(first.at - due)
    }
    assert.deepEqual((await port.windows()).windows, [])
    return { states, delays }
  })
}

type Written = Awaited<ReturnType<ReturnType<typeof portOf>['history']>>

interface End {
  readonly found: StoredWindow
  /** What the window wrote, and what put it back. */
  readonly written: Written
  readonly back: Written
  readonly what: string
  readonly valueOf: (key: string) => { readonly value: string | null; readonly revision: number } | undefined
}

/**
 * A window that was kept has its values; one that was put back has what was before, by one write. Else there are reasons: of
 * the keys that others wrote, and the rest was put back; or of a refusal, and then nothing was.
 */
function checkEnd({ found, written, back, what, valueOf }: End): void {
  assert.ok(new Set(back.map(({ revision }) => revision)).size <= 1, what)
  const isRefused = Object.values(found.reasons).some((reason) => reason !== 'It has changed since.')
  for (const { key, oldValue, newValue } of written) {
    const isBack = back.some((entry) => entry.key === key)
    if (found.state === 'kept') assert.deepEqual([isBack, valueOf(key)?.value], [false, newValue], what)
    if (found.state === 'put-back') assert.equal(valueOf(key)?.value ?? null, oldValue, what)
    if (found.state === 'conflicted')
      assert.equal(isBack, !isRefused && found.reasons[key] === undefined, what)
  }
  assert.equal(Object.keys(found.reasons).length > 0, found.state === 'conflicted', what)
}
