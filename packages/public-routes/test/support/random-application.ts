/** Random rules, request targets, and the application that they are for. */
import { type PublicRoute, publicRoutes } from '@fastify-modular/public-routes'
import fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import { headerProvider, lenientRouter, type Sink } from './application.ts'

/** The routes of every random application, under each of the methods. */
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
export const methods = ['GET', 'POST', 'PATCH'] as const

export interface Rule {
  readonly pattern: string
  readonly kind: PublicRoute['kind']
  readonly methods: readonly string[] | undefined
}

const ruleMethods = fc.option(fc.subarray([...methods], { minLength: 1 }), { nil: undefined })
export const rule: fc.Arbitrary<Rule> = fc.oneof(
  fc.record({
    kind: fc.constant<PublicRoute['kind']>('prefix'),
    pattern: fc.constantFrom('/a', '/a/', '/b/x', '/c/1', '/d', '/e', '/a/4'),
    methods: ruleMethods,
  }),
  fc.record({
    kind: fc.constant<PublicRoute['kind']>('exact'),
    pattern: fc.constantFrom('/', '/a', '/a/b', '/a/42', '/f:g', '/b/x/y', '/e'),
    methods: ruleMethods,
  }),
  fc.record({
    kind: fc.constant<PublicRoute['kind']>('suffix'),
    pattern: fc.constantFrom('/b', '.css', 'z', '/42'),
    methods: ruleMethods,
  }),
  fc.record({
    kind: fc.constant<PublicRoute['kind']>('regex'),
    pattern: fc.constantFrom('/a/[^/]+$', '/d/1', '/(?:a|b)/x', '/c/.*'),
    methods: ruleMethods,
  }),
  fc.record({
    kind: fc.constant<PublicRoute['kind']>('subtree'),
    pattern: fc.constantFrom('/a', '/b', '/c/1'),
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
/** Plain and hostile request targets. */
export const target = fc.oneof(plausible, composed)

/** An application with these rules, and a route for each URL and method. */
export async function application(
  rules: readonly Rule[],
  lenient: boolean,
  sink: Sink,
): Promise<FastifyInstance> {
  const app = Fastify(lenient ? { routerOptions: lenientRouter } : {})
  await app.register(publicRoutes, { provider: headerProvider, env: false, defaults: false })
  for (const { pattern, kind, methods: only } of rules) app.publicRoutes.add(pattern, { kind, methods: only })
  for (const method of methods) {
    for (const url of urls) app.route({ method, url, handler: sink.handler(url) })
  }
  return app
}
