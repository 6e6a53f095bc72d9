/** By tests alone no drafted value ever meets a secret that was not typed: all combinations, tried over HTTP. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setting, SettingScope, settings } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { admin } from '../support/app.ts'

const { System: scope } = SettingScope
const sources = ['default', 'stored', 'locked'] as const
/** A sensitive setting has no default: the boot refuses one. */
const secretSources = ['none', 'stored', 'locked'] as const
/** What the request brings for a setting. */
const drafts = ['absent', 'null', 'same', 'other'] as const

type Source = (typeof secretSources)[number] | 'default'
type Draft = (typeof drafts)[number]
type Name = 'host' | 'port' | 'secret'

/** For each setting the value of each source, and another one. */
const values = {
  host: {
    default: 'default.example',
    stored: 'stored.example',
    locked: 'locked.example',
    other: 'evil.example',
  },
  port: { default: 25, stored: 587, locked: 465, other: 2525 },
  secret: { none: null, default: null, stored: 'of-store', locked: 'of-host', other: 'typed' },
} as const

type Combination = Readonly<Record<Name, Draft>>

/** What `create` was called with by the request of a combination. */
const requested = new AsyncLocalStorage<{ met: Readonly<Record<Name, unknown>>[] }>()

const common = { scope, displayName: 'x' }
const definitions = {
  host: setting.text('x.host', { ...common, default: values.host.default }),
  port: setting.number('x.port', { ...common, default: values.port.default }),
  secret: setting.password('x.secret', { ...common, sensitive: true }),
}

async function createApp(
  t: { teardown(close: () => unknown): unknown },
  from: Readonly<Record<Name, Source>>,
): Promise<FastifyInstance> {
  const names = ['host', 'port', 'secret'] as const
  const overrides = Object.fromEntries(
    names.filter((name) => from[name] === 'locked').map((name) => [`x.${name}`, values[name].locked]),
  )
  const app = Fastify({ pluginTimeout: 60_000 })
  t.teardown(() => app.close())
  await app.register(settings, {
    definitions: [definitions],
    overrides,
    findCaller: (request) => ({ ...admin, id: String(request.id) }),
  })
  app.settings.resource('x', definitions, {
    create: (met) => void requested.getStore()?.met.push(met),
    probe: () => {},
  })
  await app.ready()
  for (const name of names)
    if (from[name] === 'stored') await app.settings.set(`x.${name}`, values[name].stored)
  return app
}

function bodyOf(from: Readonly<Record<Name, Source>>, combination: Combination): Record<string, unknown> {
  const bring = (name: Name): unknown => {
    if (combination[name] === 'null') return null
    return combination[name] === 'same' ? Reflect.get(values[name], from[name]) : values[name].other
  }
  const names = (['host', 'port', 'secret'] as const).filter((name) => combination[name] !== 'absent')
  return Object.fromEntries(names.map((name) => [`x.${name}`, bring(name)]))
}

/** What is expected, in the words of the rule. */
function expected(from: Readonly<Record<Name, Source>>, { host, port, secret }: Combination): number {
  const isLocked = (['host', 'port', 'secret'] as const).some(
    (name) => from[name] === 'locked' && { host, port, secret }[name] !== 'absent',
  )
  if (isLocked) return 409
  const isOther = (source: Source, draft: Draft): boolean =>
    draft === 'other' || (draft === 'null' && source !== 'default')
  // Typed it may meet anything, and after clearing there is none.
  const isWithheld = from.secret !== 'none' && secret === 'absent'
  return isWithheld && (isOther(from.host, host) || isOther(from.port, port)) ? 422 : 200
}

const combinations = drafts.flatMap((host) =>
  drafts.flatMap((port) => drafts.map((secret): Combination => ({ host, port, secret }))),
)

for (const secret of secretSources)
  test(`a secret that is ${secret} meets other values only where it was typed`, async (t) => {
    const cases = sources.flatMap((host) => sources.map((port) => ({ host, port, secret })))
    let tests = 0
    await Promise.all(
      cases.map(async (from) => {
        const app = await createApp(t, from)
        async function tryNext(waiting: Combination[]): Promise<void> {
          for (let next = waiting.pop(); next; next = waiting.pop()) {
            const met: Readonly<Record<Name, unknown>>[] = []
            const payload = bodyOf(from, next)
            const url = '/api/settings/resources/x/probe'
            const answer = await requested.run(
              { met },
              async () =>
                // Within the context: the request begins when it is waited for.
                await app.inject({ method: 'POST', url, payload }),
            )
            const name = JSON.stringify({ from, next })
            if (answer.statusCode !== expected(from, next)) t.fail(`${name}: ${answer.statusCode}`)
            if (met.length !== (answer.statusCode === 200 ? 1 : 0)) t.fail(`${name}: ${met.length} created`)
            const typed = payload['x.secret'] ?? null
            for (const { host, port, secret: used } of met)
              if (used !== null && used !== typed)
                if (
                  host !== Reflect.get(values.host, from.host) ||
                  port !== Reflect.get(values.port, from.port)
                )
                  t.fail(`${name}: ${String(used)} met ${String(host)}:${String(port)}`)
            tests += met.length
          }
        }
        const waiting = [...combinations]
        await Promise.all([tryNext(waiting), tryNext(waiting), tryNext(waiting), tryNext(waiting)])
      }),
    )
    t.ok(tests > 30, `${tests} tests were made`)
  })
