import { test } from 'tap'
import { negotiate, type UnmatchedPages } from '#src/negotiate.js'

const page = 'page'
const problem = 'problem'

/** Who gets the page of an unmatched GET, by `Accept`, with `'always'` and with `'browsers'`. */
const accepts: readonly (readonly [accept: string | undefined, always: string, browsers: string])[] = [
  [undefined, page, problem],
  ['', page, problem],
  ['*/*', page, problem],
  ['text/html', page, page],
  ['text/html, application/json', page, page],
  ['application/json;q=0.9, text/html', page, page],
  ['application/json', problem, problem],
  ['APPLICATION/JSON', problem, problem],
  ['application/problem+json', problem, problem],
  ['application/vnd.api+json; charset=utf-8', problem, problem],
  ['application/json, text/html;q=0.5', problem, problem],
  ['application/json, text/plain, */*', problem, problem],
  ['text/html;q=0', problem, problem],
  ['text/html; q=0.0, */*', problem, problem],
  ['application/json;q=0', page, problem],
  ['application/json;q=banana', page, problem],
  ['application/json;q=7', page, problem],
  ['application/jsonp', page, problem],
  ['application/x-json', page, problem],
  ['text/*, application/*', page, problem],
  ['image/avif,image/webp,*/*', page, problem],
  [',,;;q=,', page, problem],
]

test('decision 62: each way of Accept gets the page of an unmatched GET or HEAD, or the problem', (t) => {
  for (const [accept, always, browsers] of accepts) {
    const headers = accept === undefined ? {} : { accept }
    const of = (method: string, unmatchedPages: UnmatchedPages) =>
      negotiate({ method, headers, unmatchedPages, pagesForBrowsers: () => true })
    for (const method of ['GET', 'HEAD']) {
      t.equal(of(method, 'always'), always, `always: ${accept}`)
      t.equal(of(method, 'browsers'), browsers, `browsers: ${accept}`)
      t.equal(of(method, false), problem, `false: ${accept}`)
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const mode of ['always', 'browsers', false] as const) t.equal(of(method, mode), problem)
    t.equal(negotiate({ method: 'GET', headers, pagesForBrowsers: () => false }), problem, 'thrown')
  }
  t.end()
})

test('decision 82: a script that fetches a page gets the page of an unmatched GET as a browser does', (t) => {
  const scripts = [
    ...['cors', 'same-origin', 'no-cors', 'navigate', ''].map((mode) => ({ 'sec-fetch-mode': mode })),
    { 'x-requested-with': 'XMLHttpRequest', 'sec-fetch-mode': 'cors' }, // Unpoly, htmx
    { 'turbo-frame': 'list', 'sec-fetch-mode': 'cors' },
  ]
  for (const script of scripts) {
    for (const [accept, , browsers] of accepts) {
      const headers = { ...script, ...(accept !== undefined && { accept }) }
      const of = (method: string, unmatchedPages?: UnmatchedPages) =>
        negotiate({ method, headers, unmatchedPages, pagesForBrowsers: () => true })
      for (const method of ['GET', 'HEAD']) t.equal(of(method, 'browsers'), browsers, JSON.stringify(headers))
      t.equal(of('POST', 'browsers'), problem)
      if (script['sec-fetch-mode'] !== 'navigate')
        t.equal(of('GET'), problem, 'thrown errors are for navigations')
    }
  }
  t.end()
})

test('decision 44: X-Inertia of any value means a page, whatever else is said', (t) => {
  for (const value of ['true', 'false', '']) {
    const headers = { 'x-inertia': value, accept: 'application/json' }
    t.equal(negotiate({ method: 'DELETE', headers, pagesForBrowsers: () => false }), page)
  }
  t.end()
})

test('with pages for browsers, only navigations that name HTML get them', (t) => {
  const of = (headers: Record<string, string>) =>
    negotiate({ method: 'GET', headers, pagesForBrowsers: () => true })
  t.equal(of({ accept: 'text/html' }), page)
  t.equal(of({ accept: 'text/html', 'sec-fetch-mode': 'navigate' }), page)
  t.equal(of({ accept: 'text/html, application/json' }), page)
  t.equal(of({ accept: 'text/html', 'sec-fetch-mode': 'cors' }), problem)
  t.equal(of({ accept: 'text/html;q=0.5, application/json' }), problem)
  t.equal(of({ accept: '*/*' }), problem)
  t.equal(of({}), problem)
  t.end()
})
