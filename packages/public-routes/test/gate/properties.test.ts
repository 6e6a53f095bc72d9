/** Random applications: what the gate lets through is what its rules say, no more and no less. */
import { PublicRoute, publicRoutes, type MatchKind } from '@fastify-modular/public-routes'
import fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import { test } from 'tap'
import { headerProvider, lenientRouter, listen, Sink } from '../support/application.ts'
import { rawRequest } from '../support/raw-request.ts'

const urls = [
  '/',
  '/a',
  '/a/b',
  '/a/:id',
  '/a/:id/b',
  '/b/*',
  '/c/:x-:y',
  '/c/:file.:ext',
  '/d/:n(^\\d+$)',
  '/:top',
  '/e/:opt?',
  '/f::g',
]
const methods = ['GET', 'POST', 'PATCH'] as const

interface Rule {
  readonly pattern: string
  readonly kind: MatchKind
  readonly methods: readonly string[] | undefined
}

const ruleMethods = fc.option(fc.subarray([...methods], { minLength: 1 }), { nil: undefined })
const rule: fc.Arbitrary<Rule> = fc.oneof(
  fc.record({
    kind: fc.constant<MatchKind>('prefix'),
    pattern: fc.constantFrom('/a', '/a/', '/b/x', '/c/1', '/d', '/e', '/a/4'),
    methods: ruleMethods,
  }),
  fc.record({
    kind: fc.constant<MatchKind>('exact'),
    pattern: fc.constantFrom('/', '/a', '/a/b', '/a/42', '/f:g', '/b/x/y', '/e'),
    methods: ruleMethods,
  }),
  fc.record({
    kind: fc.constant<MatchKind>('suffix'),
    pattern: fc.constantFrom('/b', '.css', 'z', '/42'),
    methods: ruleMethods,
  }),
  fc.record({
    kind: fc.constant<MatchKind>('regex'),
    pattern: fc.constantFrom('/a/[^/]+$', '/d/1', '/(?:a|b)/x', '/c/.*'),
    methods: ruleMethods,
  }),
  fc.record({
    kind: fc.constant<MatchKind>('subtree'),
    pattern: fc.constantFrom('/a', '/b', '/c/1'),
    methods: ruleMethods,
  }),
  fc.record({
    kind: fc.constant<MatchKind>('route'),
    pattern: fc.constantFrom('/a/:id', '/c/:x-:y', '/b/*', '/e/:opt?'),
    methods: ruleMethods,
  }),
)

const segment = fc.constantFrom(
  'a',
  'b',
  'c',
  'd',
  'e',
  'x',
  'z',
  '42',
  '1-2',
  'p.css',
  'f:g',
  'f%3Ag',
  'A',
  '',
  '..',
  '.',
  '%2f',
  '%61',
  'b;x',
  '%20',
  'é',
  '%C3%A9',
  'b%00',
  'b#x',
)
const plausible = fc.constantFrom(
  '/',
  '/a',
  '/a/b',
  '/a/42',
  '/a/42/b',
  '/b/x/y',
  '/c/1-2',
  '/c/p.css',
  '/d/1',
  '/zz',
  '/e',
  '/e/42',
  '/f:g',
  '/a/f%3Ag',
)
const composed = fc
  .tuple(
    fc.constantFrom('/', '/', '/', '/', '//', '*', 'http://h/'),
    fc.array(segment, { maxLength: 4 }),
    fc.constantFrom('', '', '', '/', '?q=/a', '?/b'),
  )
  .map(([head, segments, tail]) => head + segments.join('/') + tail)
const target = fc.oneof(plausible, composed)

/** The rules again, written once more from S 5.5 and decision 31, for a target that RFC 3986 spells in one way. */
function allows(rules: readonly Rule[], method: string, path: string, route: string | null): boolean {
  return rules.some((candidate) => {
    if (candidate.methods !== undefined && !candidate.methods.includes(method)) return false
    if (candidate.kind === 'route') return route === candidate.pattern
    if (candidate.kind === 'suffix' && candidate.pattern.startsWith('/') && route !== null) {
      const literalEnd =
        route
          .replaceAll('::', '\u0000')
          .split(/:[^/]*|\*/)
          .at(-1)
          ?.replaceAll('\u0000', ':') ?? ''
      if (!literalEnd.endsWith(candidate.pattern)) return false
    }
    return new PublicRoute(candidate.pattern, { kind: candidate.kind }).matchesPath(path)
  })
}

/** Only the plainest targets; null for everything else, which a gate may refuse. */
function plainPath(text: string): string | null {
  const [path = ''] = text.split('?', 1)
  return /^\/(?:[\w:.-]+(?:\/[\w:.-]+)*\/?)?$/.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path) ? path : null
}

async function application(rules: readonly Rule[], lenient: boolean, sink: Sink): Promise<FastifyInstance> {
  const app = Fastify(lenient ? { routerOptions: lenientRouter } : {})
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
  for (const { pattern, kind, methods: only } of rules) app.publicRoutes.add(pattern, { kind, methods: only })
  for (const method of methods) {
    for (const url of urls) app.route({ method, url, handler: sink.handler(url) })
  }
  return app
}

test('property 3: a handler runs for an anonymous caller exactly when a rule opens its canonical path', async (t) => {
  let opened = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.array(fc.tuple(fc.constantFrom(...methods), target), { minLength: 10, maxLength: 20 }),
      async (rules, lenient, requests) => {
        const sink = new Sink()
        const app = await application(rules, lenient, sink)
        try {
          const port = await listen(app)
          for (const [number, [method, text]] of requests.entries()) {
            await rawRequest({ port, method, target: text, headers: { 'x-number': `anonymous ${number}` } })
            await rawRequest({
              port,
              method,
              target: text,
              headers: { 'x-number': `alice ${number}`, 'x-user': 'alice' },
            })
            const ran = sink.ranFor(`anonymous ${number}`)
            const route = sink.ranFor(`alice ${number}`) ?? null
            const path = plainPath(text)
            // A lenient router serves paths that its routes do not spell; the gate may refuse those.
            const mustRun = path !== null && route !== null && !lenient && allows(rules, method, path, route)
            const mayRun = route !== null && allows(rules, method, decodeOnce(text), route)
            if (ran !== undefined) opened++
            else refused++
            if (mustRun) t.equal(ran, route, `${method} ${text} must run with ${JSON.stringify(rules)}`)
            if (!mayRun)
              t.equal(ran, undefined, `${method} ${text} must not run with ${JSON.stringify(rules)}`)
          }
        } finally {
          await app.close()
        }
      },
    ),
    { numRuns: 60, seed: 1 },
  )
  t.ok(opened > 50 && refused > 200, `${opened} opened, ${refused} refused`)
})

function decodeOnce(text: string): string {
  try {
    return decodeURI(text.split('?', 1)[0] ?? '')
  } catch {
    return ''
  }
}

test('property 4: query, host, version and override headers never change a decision', async (t) => {
  const sink = new Sink()
  const app = await application([{ kind: 'prefix', pattern: '/a', methods: ['GET'] }], false, sink)
  t.teardown(() => app.close())
  const port = await listen(app)
  const header = fc.constantFrom(
    'x-original-url',
    'x-rewrite-url',
    'x-http-method-override',
    'x-forwarded-host',
    'x-forwarded-prefix',
    'referer',
    'host',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/a', '/a/42', '/b/x', '/', '/e'),
      fc.constantFrom(...methods),
      header,
      fc.constantFrom('/a', '/b/x', 'GET', 'h/a?', 'x'),
      fc.constantFrom('', '?', '?/a', '?x=/b'),
      fc.constantFrom('1.0', '1.1'),
      async (path, method, name, value, query, version) => {
        const plain = await rawRequest({ port, method, target: path })
        const dressed = await rawRequest({
          port,
          method,
          target: path + query,
          headers: { [name]: value },
          version,
        })
        t.equal(dressed.status === 401, plain.status === 401, `${method} ${path}${query} ${name}: ${value}`)
      },
    ),
    { numRuns: 300, seed: 2 },
  )
})

test('property 9: with captureGuard all, no value of a parameter opens a route to a suffix rule', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(publicRoutes, {
    provider: headerProvider,
    env: false,
    defaults: false,
    captureGuard: 'all',
  })
  app.publicRoutes.addSuffix('.css').addSuffix('/b').addSuffix('z')
  for (const url of ['/s/:id', '/s/:id/x', '/w/*', '/m/:a-:b', '/o/:opt?']) app.get(url, async () => 'ran')
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/s/', '/w/', '/m/1-', '/o/', '/s/1/x'),
      fc.array(fc.constantFrom('a', 'b', 'z', '.css', '/b', '-', '%2Fb', '%20'), { maxLength: 4 }),
      async (head, values) => {
        const url = head + values.join('')
        const signedIn = await app.inject({ url, headers: { 'x-user': 'alice' } })
        // A path that no route has shows nothing to an anonymous caller but that it is missing.
        if (signedIn.statusCode === 200) t.equal((await app.inject(url)).statusCode, 401, url)
      },
    ),
    { numRuns: 400, seed: 3 },
  )
})

test('property 13: explain says what happens, for any request', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      fc.array(fc.tuple(fc.constantFrom(...methods, 'HEAD', 'OPTIONS'), target), {
        minLength: 10,
        maxLength: 20,
      }),
      async (rules, lenient, requests) => {
        const app = await application(rules, lenient, new Sink())
        try {
          const port = await listen(app)
          for (const [method, text] of requests) {
            const { decision, reason, status } = await app.publicRoutes.explain(method, text)
            const answer = await rawRequest({ port, method, target: text })
            if (answer.status === 400 && decision !== 'rejected') continue // refused by the parser, which explain does not ask
            const observed =
              answer.status === 401 ? 'protected' : answer.status === status ? 'rejected' : 'public'
            t.equal(decision, observed, `${method} ${text} answered ${answer.status}: ${reason}`)
          }
        } finally {
          await app.close()
        }
      },
    ),
    { numRuns: 40, seed: 4 },
  )
})

interface Scope {
  readonly before: boolean
  readonly prefix: string
  readonly children: readonly Scope[]
  readonly ownNotFound: boolean
}

const { scope } = fc.letrec<{ scope: Scope }>((tie) => ({
  scope: fc.record({
    before: fc.boolean(),
    prefix: fc.constantFrom('/p', '/q', '/r', '/s'),
    children: fc.oneof(
      { maxDepth: 2 },
      fc.constant([]),
      fc.uniqueArray(tie('scope'), { maxLength: 2, selector: ({ prefix }) => prefix }),
    ),
    ownNotFound: fc.boolean(),
  }),
}))

test('property 12: in any tree of plugins, routes and not-found handlers are gated', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(scope, { maxLength: 4, selector: ({ prefix }) => prefix }),
      async (scopes) => {
        const sink = new Sink()
        const app = Fastify()
        const known: string[] = []
        const mount = (
          parent: FastifyInstance,
          { prefix, children, ownNotFound }: Scope,
          path: string,
        ): void => {
          known.push(`${path}${prefix}/x`, `${path}${prefix}/missing`)
          void parent.register(
            async (child) => {
              child.get('/x', sink.handler('route'))
              if (ownNotFound) child.setNotFoundHandler(sink.handler('not found'))
              for (const inner of children) mount(child, inner, path + prefix)
            },
            { prefix },
          )
        }
        for (const each of scopes) if (each.before) mount(app, each, '')
        await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
        for (const each of scopes) if (!each.before) mount(app, each, '')
        for (const url of [...known, '/missing']) {
          const answer = await app.inject({ url, headers: { 'x-number': '1' } })
          t.equal(answer.statusCode, 401, url)
        }
        t.equal(sink.ranFor(1), undefined)
        await app.close()
      },
    ),
    { numRuns: 60, seed: 5 },
  )
})

test('property 12: in any child scope the gate refuses to start', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), async (depth) => {
      const app = Fastify()
      const nest = async (scopeApp: FastifyInstance, left: number): Promise<void> => {
        if (left === 0) await scopeApp.register(publicRoutes, { provider: headerProvider, env: false })
        else await scopeApp.register((child) => nest(child, left - 1))
      }
      await t.rejects(nest(app, depth), { code: 'FMOD_PUBLIC_ROUTES_NOT_AT_ROOT' })
      await app.close().catch(() => {})
    }),
    { numRuns: 4, seed: 6 },
  )
})
