/** What a setting is × how it is written: what holds for every way of writing, generated from two tables. */
import { randomBytes } from 'node:crypto'
import { copyFile } from 'node:fs/promises'
import { user } from '../contract/case.ts'
import { defineModule, events, isDomainException, modules } from '@fastify-modular/core'
import { setting, settings, type SettingsOptions, SettingScope } from '@fastify-modular/settings'
import type { StorePort, StoredRow } from '#src/store/store.js'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test, test } from 'tap'
import { z } from 'zod'
import { as, callerByHeader, createApp, editor } from '../support/app.ts'
import { newFile } from '../support/engines.ts'
import { readStream } from '../support/reader.ts'
import { recorder } from '../support/recorder.ts'
import { sqlite } from '../support/stores.js'

const { Application, User } = SettingScope

t.setTimeout(900_000)

const key: string = 'x.subject'

/** The subject has two entries of history; every way tries to store the value, or to bring the first entry back. */
interface Target {
  readonly app: FastifyInstance
  readonly value: string
  readonly first: number
  readonly second: number
}

interface Way {
  /** Writes a person's own value. */
  readonly isOwn?: boolean
  /** Code in process, which is trusted. */
  readonly isTrusted?: boolean
  /** The status of the answer, or of the exception; 200 where there is none; and what it says. */
  run(target: Target): Promise<{ readonly status: number; readonly shown: string }>
}

type Request = readonly ['PUT' | 'POST' | 'DELETE', string, unknown?]

function over(toRequest: (target: Target) => Request, isOwn = false): Way {
  return {
    isOwn,
    async run(target) {
      const [method, path, body] = toRequest(target)
      const { status, text } = await as(target.app, 'editor')(method, path, body, {})
      return { status, shown: text }
    },
  }
}

function within(call: (target: Target) => Promise<unknown>, isTrusted = true): Way {
  return {
    isTrusted,
    async run(target) {
      try {
        return { status: 200, shown: JSON.stringify(await call(target)) }
      } catch (error) {
        if (!isDomainException(error)) throw error
        return { status: error.statusCode, shown: `${error.message} ${JSON.stringify(error)}` }
      }
    },
  }
}

const shared = ({ value }: Pick<Target, 'value'>) => ({ key, scope: Application, value })
const file = (target: Pick<Target, 'value'>) => ({ format: 1, settings: [shared(target)] }) as const

const ways: Readonly<Record<string, Way>> = {
  'PUT /': over((target) => ['PUT', '', shared(target)]),
  'PUT /bulk': over((target) => ['PUT', '/bulk', [shared(target)]]),
  'PUT /bulk, dry': over((target) => ['PUT', '/bulk?dryRun=true', [shared(target)]]),
  'POST /import': over((target) => ['POST', '/import', file(target)]),
  'POST /import, replace': over((target) => ['POST', '/import?mode=replace', file(target)]),
  'POST /restore': over(({ first }) => ['POST', `/${key}/restore`, { scope: 1, revision: first }]),
  'POST /revert': over(({ second }) => ['POST', `/changes/${second}/revert`, {}]),
  'POST /revert, dry': over(({ second }) => ['POST', `/changes/${second}/revert?dryRun=true`, {}]),
  'POST /revert, keys and force': over(({ second }) => [
    'POST',
    `/changes/${second}/revert`,
    { keys: [key], force: { [key]: second } },
  ]),
  'DELETE /': over(() => ['DELETE', `/${key}?scope=1`]),
  'PUT /me': over(({ value }) => ['PUT', '/me', { key, value }], true),
  'DELETE /me': over(() => ['DELETE', `/me/${key}`], true),
  'POST /restore of an own value': over(
    ({ first }) => ['POST', `/${key}/restore`, { scope: 2, revision: first }],
    true,
  ),
  set: within(({ app, value }) => app.settings.set(key, value)),
  setMany: within((target) => target.app.settings.setMany([shared(target)])),
  reset: within(({ app }) => app.settings.reset(key)),
  restore: within(({ app, first }) => app.settings.restore(key, first)),
  revert: within(({ app, second }) => app.settings.revert(second)),
  'revert for a caller': within(({ app, second }) => app.settings.revert(second, { as: editor }), false),
  importSettings: within((target) => target.app.settings.import(file(target))),
  'importSettings for a caller': within(
    (target) => target.app.settings.import(file(target), { as: editor }),
    false,
  ),
}

/** What a way has left behind. */
interface Outcome {
  readonly way: Way
  readonly status: number
  readonly before: StoredRow | undefined
  readonly after: StoredRow | undefined
  /** What the way itself answered, or its error. */
  readonly shown: string
  /** Everything that anybody was shown; empty unless the feature looks at it. */
  readonly seen: string
}

interface Feature {
  /** The entries of history, made before the setting was what it is. */
  readonly past: readonly [string, string]
  readonly value: string
  /** Members of the definition in the past, and now; null where no module defines it any more. */
  readonly was?: object
  readonly is: object | null
  readonly options?: SettingsOptions
  readonly schema?: z.ZodType<string>
  readonly hasRule?: boolean
  /** Whether the check looks at everything that anybody was shown. */
  readonly isHidden?: boolean
  /** Variables of the environment. */
  readonly variables?: Readonly<Record<string, string>>
  /** Whether equal values come back although others are refused. */
  readonly isGuarded?: boolean
  check(t: Test, outcome: Outcome, name: string): void
}

const hidden = (t: Test, { seen }: Outcome, name: string) => t.notMatch(seen, /hunter/, name)

/** Decision 114: restore and revert refuse it. */
function notPutBack(t: Test, outcome: Outcome, name: string): void {
  hidden(t, outcome, name)
  if (!/restore|revert/i.test(name)) return
  untouched(409)(t, outcome, name)
  t.match(outcome.shown, /Was a secret, so write it again: x\.subject\./, name)
}

function untouched(...statuses: readonly number[]): Feature['check'] {
  return (t, { status, before, after }, name) => {
    t.ok(statuses.includes(status), `${name}: ${status}`)
    t.same(after, before, name)
  }
}

const features: Readonly<Record<string, Feature>> = {
  'a secret': {
    past: ['hunter1', 'hunter2'],
    value: 'hunter3',
    was: { sensitive: true },
    is: { sensitive: true },
    isHidden: true,
    check: hidden,
  },
  'what was a secret': {
    past: ['hunter1', 'hunter2'],
    value: 'plain',
    was: { sensitive: true },
    is: { public: true },
    isHidden: true,
    check: notPutBack,
  },
  'a locked setting': {
    past: ['first', 'second'],
    value: 'third',
    is: {},
    options: { overrides: { [key]: 'fixed' } },
    isGuarded: true,
    check: untouched(409),
  },
  'a setting that its variable fixes': {
    past: ['first', 'second'],
    value: 'third',
    is: { env: 'T_SUBJECT' },
    variables: { T_SUBJECT: 'fixed' },
    isGuarded: true,
    check: untouched(409),
  },
  'a setting that the caller may not write': {
    past: ['first', 'second'],
    value: 'third',
    is: { writePermission: 'Mail.Configure' },
    isGuarded: true,
    check: (t, outcome, name) =>
      outcome.way.isOwn || outcome.way.isTrusted || untouched(403)(t, outcome, name),
  },
  'a setting with a rule that the value breaks': {
    past: ['other', 'second'],
    value: 'other',
    is: {},
    hasRule: true,
    check: (t, { after }, name) => t.not(after?.value, '"other"', name),
  },
  'a setting that breaks a rule already': {
    past: ['first', 'second'],
    value: 'second',
    is: {},
    hasRule: true,
    options: { overrides: { 'x.other': 'second' } },
    check: (t, { status }, name) => t.ok(status < 300, `${name}: ${status}`),
  },
  'a setting whose schema makes another value': {
    past: [' first ', 'second'],
    value: ' third ',
    is: {},
    schema: z.string().trim(),
    check: (t, { after, status }, name) => {
      t.ok(status < 300, `${name}: ${status}`)
      t.notMatch(after?.value ?? '', / /, name)
    },
  },
  'a setting that no module defines any more': {
    past: ['first', 'second'],
    value: 'third',
    is: null,
    // An import names it as unknown, a bulk as an error, removing what nobody defines is not found.
    check: untouched(200, 404, 422),
  },
}

const encryption = { keys: [{ id: 'one', key: randomBytes(32) }] }

function define({ schema }: Feature, members: object, isOwn: boolean) {
  const more = { displayName: 'Subject', scope: isOwn ? User : Application, ...members }
  return schema ? setting.schema(key, schema, more) : setting.text(key, more)
}

/** An application in which the feature is what it is now. */
async function start(t: Test, store: StorePort, feature: Feature, isOwn: boolean) {
  const subject = define(feature, feature.is ?? {}, isOwn)
  const other = setting.text('x.other', { displayName: 'Other', scope: subject.scope, default: 'other' })
  const module = defineModule({
    name: 'subjects',
    settings: (builder) =>
      feature.hasRule
        ? builder
            .addAll({ subject, other })
            .rule({ subject, other }, (all) =>
              all.subject === all.other ? 'Enter another value.' : undefined,
            )
        : builder.addAll(feature.is === null ? { other } : { subject, other }),
  })
  const app = Fastify()
  t.teardown(() => app.close())
  const { published, transport } = recorder()
  app.register(events, { transport })
  app.register(settings, {
    findCaller: callerByHeader,
    selfService: true,
    store,
    encryption,
    ...feature.options,
  })
  app.register(modules, { modules: [module] })
  if (feature.isHidden) await app.listen({ port: 0, host: '127.0.0.1' })
  else await app.ready()
  return { app, published }
}

/** What every face shows; the streams begin with the values that hold. */
async function everythingShown(app: FastifyInstance): Promise<string> {
  const paths = ['', '?scope=1', '?scope=2', '/me', '/definitions', '/public', '/export', '/changes']
  const ofKey = ['?scope=1', '?scope=2', '/inspect', '/history', '/history?scope=2'].map(
    (rest) => `/${key}${rest}`,
  )
  const texts: string[] = []
  for (const path of [...paths, ...ofKey])
    for (const caller of ['admin', 'editor', null] as const)
      texts.push((await as(app, caller)('GET', path)).text)
  for (const path of ['/stream', '/public/stream']) {
    const reader = await readStream(app, { path, headers: { 'x-caller': 'editor' } })
    await reader.next()
    texts.push(reader.text)
    reader.close()
  }
  return texts.join('\n')
}

const rowOf = async (store: StorePort, isOwn: boolean) =>
  isOwn
    ? (await store.owned.read(user('editor'))).find((row) => row.key === key)
    : (await store.shared.read()).rows.find((row) => row.key === key)

/** A file in which the past of a feature is written, and its revisions. */
interface Past extends Pick<Target, 'first' | 'second'> {
  readonly file: string
}

async function writePast(t: Test, feature: Feature, isOwn: boolean): Promise<Past> {
  const file = await newFile(t)
  const { schema: _, ...past } = feature
  const app = await createApp(t, {
    store: sqlite({ file }),
    encryption,
    definitions: [define(past, feature.was ?? {}, isOwn)],
  })
  for (const each of feature.past) await app.settings.set(key, each, isOwn ? { userId: 'editor' } : {})
  const { entries } = await app.settings.history({ key, ...(isOwn && { userId: 'editor' }) })
  const [second = 0, first = 0] = entries.map(({ revision }) => revision)
  await app.close()
  return { file, first, second }
}

/** Goes one way after the past, in a file of its own. */
async function go(t: Test, feature: Feature, way: Way, past: Past, value = feature.value): Promise<Outcome> {
  const { isOwn = false } = way
  const { first, second } = past
  const file = await newFile(t)
  await copyFile(past.file, file)
  const store = sqlite({ file })
  Object.assign(process.env, feature.variables)
  const { app, published } = await start(t, store, feature, isOwn)
  for (const name of Object.keys(feature.variables ?? {})) delete process.env[name]
  const before = await rowOf(store, isOwn)
  const { status, shown } = await way.run({ app, value, first, second })
  const after = await rowOf(store, isOwn)
  const everything = feature.isHidden ? [shown, JSON.stringify(published), await everythingShown(app)] : []
  await app.close()
  return { way, status, before, after, shown, seen: everything.join('\n') }
}

for (const [name, feature] of Object.entries(features)) {
  test(`${name} stays what it is, whichever way it is written`, async (t) => {
    const shared = await writePast(t, feature, false)
    const own = await writePast(t, feature, true)
    for (const [wayName, way] of Object.entries(ways))
      feature.check(t, await go(t, feature, way, way.isOwn ? own : shared), wayName)
  })

  if (feature.isGuarded)
    test(`${name} lets a file or a bulk with the stored value pass`, async (t) => {
      const past = await writePast(t, feature, false)
      for (const [wayName, way] of Object.entries(ways)) {
        if (!/bulk|import|setMany/i.test(wayName)) continue
        const { status, before, after } = await go(t, feature, way, past, feature.past[1])
        t.equal(status, 200 + (wayName === 'PUT /bulk' ? 4 : 0), wayName)
        t.same(after, before, wayName)
      }
    })
}
