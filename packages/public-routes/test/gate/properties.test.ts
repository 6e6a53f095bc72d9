/** Random applications: what the gate lets through is what its rules say, no more and no less. */
import { PublicRoute } from '@fastify-modular/public-routes'
import fc from 'fast-check'
import { test } from 'tap'
import { gatedApp, listen, Sink } from '../support/application.ts'
import { application, methods, rule, target, type Rule } from '../support/random-application.ts'
import { rawRequest } from '../support/raw-request.ts'

/** The rules again, written once more from S 5.5 and decision 31, for a target that RFC 3986 spells in one way. */
function allows(rules: readonly Rule[], method: string, path: string, route: string | null): boolean {
  return rules.some((candidate) => {
    if (candidate.methods !== undefined && !candidate.methods.includes(method)) return false
    if (candidate.kind === 'suffix' && candidate.pattern.startsWith('/') && route !== null) {
      const literalEnd =
        route
          .replaceAll('::', '\u0000')
          .split(/:[^/]*|\*/)
          .at(-1)
          ?.replaceAll('\u0000', ':') ?? ''
      if (!literalEnd.endsWith(candidate.pattern)) return false
    }
    return new PublicRoute(candidate.pattern, { kind: candidate.kind }).matches('GET', path)
  })
}

/** Only the plainest targets; null for everything else, which a gate may refuse. */
function plainPath(text: string): string | null {
  const [path = ''] = text.split('?', 1)
  return /^\/(?:[\w:.-]+(?:\/[\w:.-]+)*\/?)?$/.test(path) && !/\/\.{1,2}(?:\/|$)/.test(path) ? path : null
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

test('property 9: no value of a parameter opens a route to a suffix rule that begins with a slash', async (t) => {
  const app = await gatedApp(t, { defaults: false })
  app.publicRoutes.addSuffix('/b').addSuffix('/.css').addSuffix('/a/z')
  for (const url of ['/s/:id', '/s/:id/x', '/w/*', '/m/:a-:b', '/o/:opt?']) app.get(url, async () => 'ran')
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/s/', '/w/', '/m/1-', '/o/', '/s/1/x'),
      fc.array(fc.constantFrom('a', 'b', 'z', '.css', '/b', '/.css', '/a/z', '-', '%2Fb', '%20'), {
        maxLength: 4,
      }),
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
            const { decision, reason, status } = await app.access.explain(method, text)
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
