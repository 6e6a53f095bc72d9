/** Mistakes in the access of the application: the boot or `expectAccess` notices each. `MUTANTS=100 MUTANTS_SEED=2` tries more. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { generator } from '@fastify-modular/test-support/hostile-requests'
import { type Access, publicRoutes } from '@fastify-modular/public-routes'
import { expectAccess } from '@fastify-modular/public-routes/testing'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { test } from 'tap'
import { buildExample } from './built-example.js'
import { tempFolder } from './host.js'

const count = Number(process.env['MUTANTS'] ?? 14)
const random = generator(Number(process.env['MUTANTS_SEED'] ?? 1))
const file = new URL('../access.json', import.meta.url)

/** A line of `access.json`. */
interface Entry {
  readonly route: string
  readonly access: string
  readonly note?: string
}

/** What a mistake does to the application: to the route itself, beside it, or in the environment. */
interface Mutation {
  /** Undefined takes the declaration away. */
  readonly declare?: Access | undefined
  readonly add?: (app: FastifyInstance, url: string) => void
  readonly rule?: string
}

const handler = async () => 'mutant'
const isPermission = ({ access }: Entry): boolean => access.includes('.')

/** A mutation, or null where this mistake changes nothing for the route. */
const mistakes: Readonly<Record<string, (entry: Entry, url: string) => Mutation | null>> = {
  'declaration removed': ({ access }, url) =>
    access === 'public' && /^\/(?:login|accent)/.test(url) ? { declare: undefined } : null,
  weakened: (entry) =>
    entry.access === 'public' ? null : { declare: isPermission(entry) ? 'signed-in' : 'public' },
  widened: (entry) =>
    isPermission(entry) ? { declare: { anyOf: [entry.access, 'Settings.Update'] } } : null,
  'permission swapped': (entry) => (isPermission(entry) ? { declare: 'Settings.Update' } : null),
  'rule added': ({ access }, url) =>
    access !== 'public' && /^\/api\/(?:notes|mails|faults|dead-letters)/.test(url)
      ? { rule: url.split('/:')[0] ?? '' }
      : null,
  'route added before the gate': () => ({ add: (app, url) => addEarly(app, 'GET', `/early${url}`) }),
  'method added': () => ({ add: (app, url) => addEarly(app, 'TRACE', url) }),
}

/** With an error handler of its own: `errors` refuses other routes from before it. */
function addEarly(app: FastifyInstance, method: string, url: string): void {
  app.route({ method, url, handler, errorHandler: (_error, _request, reply) => void reply.send() })
}

/** What notices a mutant. */
async function noticedBy(databaseUrl: string, { route }: Entry, mutation: Mutation): Promise<string> {
  const [, method = '', url = ''] = /^(\S+) (.*)$/.exec(route) ?? []
  if (mutation.rule !== undefined) process.env['SM_AUTH_PUBLIC_PATHS'] = JSON.stringify([mutation.rule])
  const onRoute = (each: RouteOptions): void => {
    if (!('declare' in mutation) || each.url !== url || ![each.method].flat().includes(method)) return
    const { access: _, ...config } = { ...each.config }
    each.config = mutation.declare === undefined ? config : { ...config, access: mutation.declare }
  }
  try {
    const app = await buildExample({
      databaseUrl,
      onRoute,
      onCreate: (created) => mutation.add?.(created, url),
    })
    try {
      await expectAccess(app, file)
      return 'nothing'
    } catch (error) {
      return /it is: /.test(String(error)) ? 'the table and requests' : 'the table'
    } finally {
      await app.close()
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('FMOD_PUBLIC_ROUTES_'))
      return 'the boot'
    throw error
  } finally {
    delete process.env['SM_AUTH_PUBLIC_PATHS']
  }
}

test(`${count} mutants of the example: each is refused at boot or differs from access.json`, async (t) => {
  const databaseUrl = `sqlite:${join(await tempFolder(t), 'host.sqlite')}`
  const entries = (
    JSON.parse(await readFile(file, 'utf8')) as readonly (Entry | { readonly rule: string })[]
  ).flatMap((entry) => ('route' in entry && entry.note === undefined ? [entry] : []))
  const kinds = Object.entries(mistakes)
  const tally = new Map<string, number>()
  for (let made = 0; made < count;) {
    const [kind, mutate] = kinds[made % kinds.length] ?? ['', () => null]
    const entry = entries[Math.floor(random() * entries.length)]
    const mutation = entry ? mutate(entry, entry.route.replace(/^\S+ /, '')) : null
    if (entry === undefined || mutation === null) continue
    made++
    const noticed = await noticedBy(databaseUrl, entry, mutation)
    t.not(noticed, 'nothing', `${kind}: ${entry.route}`)
    tally.set(noticed, (tally.get(noticed) ?? 0) + 1)
  }
  t.comment([...tally].map(([by, number]) => `by ${by}: ${number}`).join(', '))
})

test('a setting that becomes public differs from the file, and so does a hook before the gate of the example', async (t) => {
  const folder = await tempFolder(t)
  const bare = async (isPublic: boolean) => {
    const app = Fastify()
    t.teardown(() => app.close())
    await app.register(publicRoutes, { provider: { authenticate: () => null } })
    const host = setting.text('mail.host', {
      displayName: 'Host',
      scope: SettingScope.System,
      public: isPublic,
    })
    await app.register(settings, { definitions: [host] })
    return app
  }
  const entries = pathToFileURL(join(folder, 'access.json'))
  await writeFile(entries, '[]')
  const messageOf = async (app: FastifyInstance, against: URL) =>
    expectAccess(app, against).then(
      () => '',
      (error: unknown) => String(error),
    )
  t.notMatch(await messageOf(await bare(false), entries), 'setting mail.host')
  t.match(await messageOf(await bare(true), entries), '- setting mail.host is new: public')

  const app = await buildExample({
    databaseUrl: `sqlite:${join(folder, 'host.sqlite')}`,
    onCreate: (created) => void created.addHook('onRequest', (_request, _reply, done) => done()),
  })
  t.teardown(() => app.close())
  t.match(await messageOf(app, file), /hooks before the gate was .* and is .*, 1 unnamed/)
})
