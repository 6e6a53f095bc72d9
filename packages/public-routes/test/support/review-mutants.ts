/** Changes in pull requests that look normal and open something, and what notices each: the boot, its log, the file, or a reader of the guide. */
import { readFileSync } from 'node:fs'
import { accessEntries, compareAccess } from '#src/review/committed-file.js'
import { defineModule, modules } from '@fastify-modular/core'
import { type Access, publicRoutes, type PublicRoutesOptions } from '@fastify-modular/public-routes'
import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyInstance, type FastifyServerOptions, type onRequestHookHandler } from 'fastify'
import { headerProvider } from './application.ts'
import { ran } from './declared-application.ts'

/** What differs from the application of before. */
interface Change {
  readonly server?: FastifyServerOptions
  readonly options?: Partial<PublicRoutesOptions>
  readonly beforeGate?: (app: FastifyInstance) => unknown
  readonly access?: Access
  readonly inModule?: (app: FastifyInstance) => unknown
  readonly afterGate?: (app: FastifyInstance) => unknown
}

export type ReviewMutant = { readonly name: string } & (
  | {
      readonly noticedBy: 'boot' | 'log' | 'file' | 'nothing opens'
      readonly after: Change
      readonly before?: Change
    }
  /** `guide` is a phrase of docs/guides/access.md. */
  | { readonly noticedBy: 'guide'; readonly guide: string }
)

/** A hook of this name that answers some requests. */
function named(name: string): onRequestHookHandler {
  const hook: onRequestHookHandler = ({ headers }, reply, done) =>
    'x-partner' in headers ? void reply.send('PRIVATE') : done()
  return Object.defineProperty(hook, 'name', { value: name })
}
const unnamed = (app: FastifyInstance) => app.addHook('onRequest', named(''))
const guest = { provider: { authenticate: () => ({ id: 'guest' }) } }
const keys = new Map([[undefined, { id: 'service', isAdmin: true }]]) // the key of the service is not set

export const reviewMutants: readonly ReviewMutant[] = [
  {
    name: 'a route below a path that the framework opens',
    noticedBy: 'file',
    after: { inModule: (app) => app.get('/static/report', ran) },
  },
  {
    name: 'a rule for an ending',
    noticedBy: 'file',
    after: { afterGate: (app) => app.publicRoutes.addSuffix('/share') },
  },
  {
    name: 'a parameter that became optional',
    noticedBy: 'file',
    before: { inModule: (app) => app.get('/files/:id', { config: { access: 'public' } }, ran) },
    after: { inModule: (app) => app.get('/files/:id?', { config: { access: 'public' } }, ran) },
  },
  { name: 'the access of a module', noticedBy: 'file', after: { access: 'public' } },
  {
    name: 'a prefix that was widened',
    noticedBy: 'file',
    before: { afterGate: (app) => app.publicRoutes.addPrefix('/docs/v1/') },
    after: { afterGate: (app) => app.publicRoutes.addPrefix('/docs/') },
  },
  {
    name: 'one public method of a route for all',
    noticedBy: 'file',
    before: { afterGate: (app) => app.all('/all', ran) },
    after: { afterGate: (app) => app.all('/all', { config: { access: { GET: 'public' } } }, ran) },
  },
  {
    name: 'a flag of production in the configuration of a route',
    noticedBy: 'guide',
    guide: 'variables of the environment',
  },
  {
    name: 'paths in the environment',
    noticedBy: 'log',
    after: { options: { env: { SM_AUTH_PUBLIC_PATHS: '["/note"]' } } },
  },
  {
    name: 'an entry that closes what a package declares',
    noticedBy: 'boot',
    before: { inModule: (app) => app.get('/other', { config: { access: 'public' } }, ran) },
    after: {
      options: { access: { '/other': 'signed-in' } },
      inModule: (app) => app.get('/other', { config: { access: 'public' } }, ran),
    },
  },
  {
    name: 'an entry that undoes the access of a module',
    noticedBy: 'boot',
    after: { options: { access: { '/notes/*': 'public' } } },
  },
  { name: 'an unnamed hook before the gate', noticedBy: 'file', after: { beforeGate: unnamed } },
  {
    name: 'an unnamed hook before the gate, beside @fastify/rate-limit',
    noticedBy: 'file',
    before: { beforeGate: (app) => app.register(rateLimit) },
    after: {
      beforeGate: async (app) => {
        await app.register(rateLimit)
        unnamed(app)
      },
    },
  },
  {
    name: 'a hook with the name of a plugin that is absent',
    noticedBy: 'file',
    after: { beforeGate: (app) => app.addHook('onRequest', named('handleCors')) },
  },
  {
    name: 'a URL that is rewritten to that of a protected route',
    noticedBy: 'nothing opens',
    after: { server: { rewriteUrl: () => '/notes/1' } },
  },
  { name: 'a provider with a guest, in the file', noticedBy: 'file', after: { options: guest } },
  { name: 'a provider with a guest, in the log', noticedBy: 'log', after: { options: guest } },
  {
    name: 'a key that neither side has',
    noticedBy: 'file',
    after: {
      options: {
        provider: { authenticate: ({ headers }) => keys.get(headers['x-key'] as undefined) ?? null },
      },
    },
  },
  {
    name: 'more that guests may do',
    noticedBy: 'file',
    before: { options: { ...guest, guests: true } },
    after: {
      options: {
        guests: true,
        provider: { authenticate: () => ({ id: 'guest', permissions: ['Notes.Edit'] }) },
      },
    },
  },
  {
    name: 'a path that is exempt from the protection of csrf',
    noticedBy: 'file',
    before: { options: { csrf: true } },
    after: { options: { csrf: { exempt: ['/notes'] } } },
  },
  {
    name: 'an origin that csrf trusts',
    noticedBy: 'file',
    before: { options: { csrf: true } },
    after: { options: { csrf: { trustedOrigins: ['https://evil.example'] } } },
  },
  {
    name: 'no protection of csrf any more',
    noticedBy: 'file',
    before: { options: { csrf: true } },
    after: {},
  },
  { name: 'public files one folder up', noticedBy: 'guide', guide: 'when `root` moves one folder up' },
  { name: 'a public handler that injects a request of its own', noticedBy: 'guide', guide: '`app.inject`' },
  { name: 'a server that answers by itself', noticedBy: 'guide', guide: '`serverFactory`' },
  { name: 'an error of the framework that carries data', noticedBy: 'guide', guide: '`frameworkErrors`' },
  {
    name: 'an option caller that makes callers up',
    noticedBy: 'guide',
    guide: 'of settings, which may make callers up',
  },
]

async function build({ server, options, beforeGate, access = 'signed-in', inModule, afterGate }: Change) {
  const warnings: string[] = []
  const stream = { write: (line: string) => void warnings.push(line) }
  const app = Fastify({ ...server, logger: { level: 'warn', stream } })
  await beforeGate?.(app)
  await app.register(publicRoutes, { provider: headerProvider, env: false, ...options })
  afterGate?.(app)
  const plugin = async (scope: FastifyInstance) => {
    scope.get('/notes/:id', async () => 'PRIVATE')
    inModule?.(scope)
  }
  const notes = defineModule({ name: 'notes', access, permissions: { 'Notes.Edit': 'Edit notes' }, plugin })
  await app.register(modules, { modules: [notes] })
  return { app, warnings }
}

/** Whether what should notice the mutant does, and whether the application of before is silent. */
export async function judgeReview(
  mutant: ReviewMutant,
): Promise<{ readonly noticed: boolean; readonly falseAlarm: boolean }> {
  if (mutant.noticedBy === 'guide') {
    const guide = new URL('../../../../docs/guides/access.md', import.meta.url)
    return { noticed: readFileSync(guide, 'utf8').includes(mutant.guide), falseAlarm: false }
  }
  const before = await build(mutant.before ?? {})
  const again = await build(mutant.before ?? {})
  const after = await build(mutant.after)
  try {
    const expected = await entriesOf(before.app)
    const falseAlarm = compareAccess(expected, await entriesOf(again.app)).length > 0
    if (mutant.noticedBy === 'boot') return { noticed: await refuses(after.app), falseAlarm }
    const changed = compareAccess(expected, await entriesOf(after.app))
    const body = (await after.app.inject('/notes/1')).body
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    const noticed = {
      file: changed.length > 0,
      log: after.warnings.length > 0,
      'nothing opens': !body.includes('PRIVATE'),
    }[mutant.noticedBy]
    return { noticed, falseAlarm }
  } finally {
    for (const { app } of [before, again, after]) await app.close().catch(() => {})
  }
}

async function entriesOf(app: FastifyInstance): ReturnType<typeof accessEntries> {
  await app.ready()
  return accessEntries(app)
}

async function refuses(app: FastifyInstance): Promise<boolean> {
  try {
    await app.ready()
    return false
  } catch (err) {
    return err instanceof Error && 'code' in err && String(err.code).startsWith('FMOD_PUBLIC_ROUTES_')
  }
}
