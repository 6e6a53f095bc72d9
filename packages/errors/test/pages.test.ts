/** Who gets a page: the table of the guide, each row and column of it over HTTP (decisions 62, 82 and 103). */
import { readFileSync } from 'node:fs'
import { inertia } from '@fastify-modular/inertia'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { test } from 'tap'
import { ForbiddenException } from '@fastify-modular/core'
import type { ErrorsOptions } from '@fastify-modular/errors'
import { createApp, throwing } from './support/app.js'

/** Each `Accept` by what it prefers. */
const accepts = {
  html: [
    'text/html',
    'text/html, application/json',
    'application/json;q=0.9, text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  ],
  nothing: [
    undefined,
    '',
    '*/*',
    'application/json;q=0',
    'application/json;q=banana',
    'application/json;q=7',
    'application/jsonp',
    'application/x-json',
    'text/*, application/*',
    'image/avif,image/webp,*/*',
    'image/avif, */*;q=0.1',
    ',,;;q=,',
  ],
  json: [
    'application/json',
    'APPLICATION/JSON',
    'application/problem+json',
    'application/vnd.api+json; charset=utf-8',
    'application/json, text/html;q=0.5',
    'text/html;q=0.5, application/json',
    'application/json, text/plain, */*',
    'application/json, */*',
    'text/html;q=0',
    'text/html; q=0.0, */*',
  ],
} as const

type Headers = Readonly<Record<string, string>>

const withAccept = (accept: string | undefined): Headers => (accept === undefined ? {} : { accept })
const html = accepts.html.map(withAccept)
const nothing = accepts.nothing.map(withAccept)
const json = accepts.json.map(withAccept)

/** Headers of scripts, which browsers set or libraries such as htmx, Unpoly and Turbo. */
const scripts = [
  ...['cors', 'same-origin', 'no-cors', ''].map((mode) => ({ 'sec-fetch-mode': mode })),
  { 'x-requested-with': 'XMLHttpRequest', 'sec-fetch-mode': 'cors' },
  { 'x-requested-with': 'xmlhttprequest' },
  { 'turbo-frame': 'list', 'sec-fetch-mode': 'cors' },
]
const byScript = ([headers]: readonly Headers[]) => scripts.map((script) => ({ ...script, ...headers }))
const navigating = html.flatMap((headers) => [headers, { ...headers, 'sec-fetch-mode': 'navigate' }])
const visiting = [...html.slice(0, 1), ...nothing.slice(0, 1), ...json.slice(0, 1)].flatMap((headers) =>
  ['true', 'false', ''].map((visit) => ({ ...headers, 'x-inertia': visit })),
)

const reads = ['GET', 'HEAD'] as const
const writes = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const thrown = ['/thrown', '/apix/thrown', '/api/thrown', '/api/thrown?page=1']

function requests(
  methods: readonly string[],
  urls: readonly string[],
  all: readonly Headers[],
): InjectOptions[] {
  return methods.flatMap((method) =>
    urls.flatMap((url) => all.map((headers) => ({ method, url, headers }) as InjectOptions)),
  )
}

/** What the first column of the table stands for. */
const rows: Readonly<Record<string, readonly InjectOptions[]>> = {
  'a route throws, for the Inertia client': requests(['GET', 'DELETE'], ['/api/thrown'], visiting),
  'a route throws, and a browser navigates there': requests(['GET', 'POST'], thrown, navigating),
  'no route, for the Inertia client': requests([...reads, 'DELETE'], ['/nope'], visiting),
  'no route, and `Accept` prefers HTML': requests(reads, ['/api/nope'], [...navigating, ...byScript(html)]),
  'no route, and `Accept` has no preference': requests(
    reads,
    ['/api/nope'],
    [...nothing, ...byScript(nothing)],
  ),
  '`GET /error/{code}`': requests(['GET'], ['/error/403'], [{}, ...html, ...json, ...visiting]),
  'anything else': [
    ...requests(['GET', 'POST'], ['/thrown'], [...byScript(html), ...nothing, ...json]),
    ...requests(reads, ['/api/nope'], [...json, ...byScript(json)]),
    ...requests(writes, ['/nope'], [...html, ...byScript(html), {}]),
  ],
}

/** What the columns stand for; `says` is the answer of the function. */
const columns: Readonly<Record<string, readonly { errors: ErrorsOptions; says?: boolean }[]>> = {
  'left out': [{ errors: {} }],
  "`'inertia'`": [{ errors: { pages: 'inertia' } }],
  "`'browsers'`": [{ errors: { pages: 'browsers' } }],
  'a function': [true, false].map((says) => ({ errors: { pages: () => says }, says })),
  '`false`': [{ errors: { pages: false } }],
}

interface Application {
  readonly hasInertia: boolean
  readonly says: boolean
}

/** What a cell says of a request to such an application. */
const cells: Readonly<Record<string, (app: Application, url: string) => boolean>> = {
  page: () => true,
  problem: () => false,
  'page with Inertia': ({ hasInertia }) => hasInertia,
  'page outside `/api`': (_, url) => !url.startsWith('/api/'),
  'as it says': ({ says }) => says,
  served: () => true,
  'served with Inertia': ({ hasInertia }) => hasInertia,
  'no route': () => false,
}

/** Where the application gets its pages from, and whether it has any. */
const fronts: readonly {
  name: string
  hasInertia: boolean
  front?: (app: FastifyInstance) => unknown
  isFirst?: true
}[] = [
  { name: 'without inertia', hasInertia: false },
  {
    name: 'with inertia before the plugin',
    hasInertia: true,
    front: (app) => app.register(inertia),
    isFirst: true,
  },
  { name: 'with inertia after it', hasInertia: true, front: (app) => app.register(inertia) },
  {
    name: 'with inertia in a scope of its own',
    hasInertia: false,
    front: (app) => app.register(async (scope) => scope.register(inertia), { prefix: '/front' }),
  },
]

const guide = readFileSync(new URL('../../../docs/guides/errors.md', import.meta.url), 'utf8')
const [, table = ''] = /## Choose who gets a page\n[^]*?\n\n(\|[^]*?)\n\n/.exec(guide) ?? []
const [head = [], , ...body] = table.split('\n').map((line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim()),
)

test('the table of the guide has these rows and columns', (t) => {
  t.same(head.slice(1), Object.keys(columns))
  t.same(
    body.map(([row]) => row),
    Object.keys(rows),
  )
  t.end()
})

/** Whether the request got what the cell says, in the form that it asked for. */
function isAsSaid(
  { statusCode, headers }: LightMyRequestResponse,
  { headers: asked, url }: InjectOptions,
  says: boolean,
) {
  const type = String(headers['content-type']).split(';')[0]
  if (url === '/error/403') return statusCode === (says ? 403 : 404)
  const page = asked?.['x-inertia'] === undefined ? 'text/html' : 'application/json'
  const vary = String(headers['vary']).split(', ')
  return (
    statusCode === (String(url).includes('thrown') ? 403 : 404) &&
    type === (says ? page : 'application/problem+json') &&
    vary.includes('Accept') &&
    vary.includes('X-Inertia')
  )
}

for (const [at, column] of head.slice(1).entries()) {
  for (const { errors, says = false } of columns[column] ?? []) {
    for (const { name, hasInertia, front, isFirst } of fronts) {
      test(`decision 103: pages ${column} (${says}), ${name}: each row is answered as the guide says`, async (t) => {
        const { app } = await createApp(t, {
          errors,
          server: { logger: false },
          ...(isFirst && front && { before: front }),
          after: async (it) => {
            if (!isFirst) await front?.(it)
            for (const url of ['/thrown', '/apix/thrown', '/api/thrown'])
              it.all(url, throwing(new ForbiddenException()))
          },
        })
        for (const [row = '', ...of] of body) {
          const cell = cells[of[at] ?? '']
          t.ok(cell, `${row}: a cell that this test knows`)
          for (const request of rows[row] ?? []) {
            const answer = await app.inject(request)
            const expected = cell?.({ hasInertia, says }, String(request.url)) === true
            if (!isAsSaid(answer, request, expected))
              t.fail(
                `${row}: ${JSON.stringify(request)} got ${answer.statusCode} ${String(answer.headers['content-type'])}`,
              )
          }
        }
      })
    }
  }
}
