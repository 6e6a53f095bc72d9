/** Who gets the page of an unmatched request: the whole matrix, over HTTP (decision 62). */
import { inertia } from '@fastify-modular/inertia'
import type { FastifyInstance } from 'fastify'
import { test } from 'tap'
import type { ErrorsOptions } from '@fastify-modular/errors'
import { createApp } from './support/app.js'
import { browserHeaders } from './support/expect.js'

const options: readonly ErrorsOptions['unmatchedPages'][] = [undefined, 'always', 'browsers', false]
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Each `Accept` by what it says of HTML. */
const accepts = {
  'does not care': [undefined, '*/*', 'text/*, application/*', 'image/avif, */*;q=0.1'],
  'names HTML': ['text/html', browserHeaders.accept, 'application/json;q=0.9, text/html'],
  'prefers JSON or refuses HTML': [
    'application/json, */*',
    'text/html;q=0.5, application/json',
    'text/html;q=0',
  ],
} as const

type Way = keyof typeof accepts

/** Where the application gets its pages from, and whether it has any. */
const fronts: Readonly<
  Record<string, { has: boolean; front?: (app: FastifyInstance) => unknown; isFirst?: true }>
> = {
  'without inertia': { has: false },
  'with inertia before the plugin': { has: true, front: (app) => app.register(inertia), isFirst: true },
  'with inertia after it': { has: true, front: (app) => app.register(inertia) },
  'with inertia in a scope of its own': {
    has: false,
    front: (app) => app.register(async (scope) => scope.register(inertia), { prefix: '/front' }),
  },
}

/** The rule in its own words. */
function isPage(mode: 'always' | 'browsers' | false, method: string, way: Way, isVisit: boolean): boolean {
  if (mode === false) return false
  if (isVisit) return true
  if (method !== 'GET' && method !== 'HEAD') return false
  return way === 'names HTML' || (way === 'does not care' && mode === 'always')
}

for (const [name, { has, front, isFirst }] of Object.entries(fronts)) {
  for (const option of options) {
    const mode = option ?? (has ? 'always' : 'browsers')
    test(`decision 62: ${name}, unmatchedPages ${option}: pages ${mode}`, async (t) => {
      const { app } = await createApp(t, {
        errors: option === undefined ? {} : { unmatchedPages: option },
        ...(front && { [isFirst ? 'before' : 'after']: front }),
      })
      for (const [way, headers] of Object.entries(accepts)) {
        for (const accept of headers) {
          for (const method of methods) {
            for (const visit of [undefined, 'true', 'false']) {
              const answer = await app.inject({
                method,
                url: '/nope',
                headers: { ...(accept && { accept }), ...(visit && { 'x-inertia': visit }) },
              })
              const page = visit ? 'application/json' : 'text/html'
              const expected = isPage(mode, method, way as Way, visit !== undefined)
              t.equal(answer.statusCode, 404)
              t.equal(
                String(answer.headers['content-type']).split(';')[0],
                expected ? page : 'application/problem+json',
                `${method} ${accept} X-Inertia ${visit}`,
              )
              t.match(answer.headers['vary'], /^(?=.*\bAccept\b)(?=.*\bX-Inertia\b)/)
            }
          }
        }
      }
    })
  }
}

test('decision 62: what is thrown is negotiated as before, whatever unmatchedPages says', async (t) => {
  for (const unmatchedPages of ['always', 'browsers', false] as const) {
    const { app } = await createApp(t, {
      errors: { unmatchedPages, pagesForBrowsers: true },
      after: (it) =>
        it.get('/', () => {
          throw new Error('x')
        }),
    })
    const typeOf = async (headers: Record<string, string>) =>
      (await app.inject({ url: '/', headers })).headers['content-type']
    t.equal(await typeOf({}), 'application/problem+json')
    t.equal(await typeOf({ 'x-inertia': 'true' }), 'application/json')
    t.equal(await typeOf(browserHeaders), 'text/html; charset=utf-8')
  }
})
