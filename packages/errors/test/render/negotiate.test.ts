import fc from 'fast-check'
import { test } from 'tap'
import { negotiate, refusesHtml } from '#src/render/negotiate.js'

const page = 'page'
const problem = 'problem'

test('decision 44: the caller of an unmatched GET gets the page unless it prefers JSON by name', (t) => {
  const table: readonly (readonly [accept: string | undefined, expected: string])[] = [
    [undefined, page],
    ['', page],
    ['*/*', page],
    ['text/html', page],
    ['text/html, application/json', page],
    ['application/json;q=0.9, text/html', page],
    ['application/json', problem],
    ['APPLICATION/JSON', problem],
    ['application/problem+json', problem],
    ['application/vnd.api+json; charset=utf-8', problem],
    ['application/json, text/html;q=0.5', problem],
    ['application/json, text/plain, */*', problem],
    ['text/html;q=0', problem],
    ['text/html; q=0.0, */*', problem],
    ['application/json;q=0', page],
    ['application/json;q=banana', page],
    ['application/json;q=7', page],
    ['application/jsonp', page],
    ['application/x-json', page],
    ['text/*, application/*', page],
    ['image/avif,image/webp,*/*', page],
    [',,;;q=,', page],
  ]
  for (const [accept, expected] of table) {
    const headers = accept === undefined ? {} : { accept }
    for (const method of ['GET', 'HEAD']) {
      t.equal(
        negotiate({ method, headers, isUnmatched: true, pagesForBrowsers: () => false }),
        expected,
        String(accept),
      )
    }
    t.equal(negotiate({ method: 'POST', headers, isUnmatched: true, pagesForBrowsers: () => true }), problem)
    t.equal(negotiate({ method: 'GET', headers, isUnmatched: false, pagesForBrowsers: () => false }), problem)
  }
  t.end()
})

test('decision 44: X-Inertia of any value means a page, whatever else is said', (t) => {
  for (const value of ['true', 'false', '']) {
    const headers = { 'x-inertia': value, accept: 'application/json' }
    t.equal(negotiate({ method: 'DELETE', headers, isUnmatched: false, pagesForBrowsers: () => false }), page)
  }
  t.end()
})

test('with pages for browsers, only navigations that name HTML get them', (t) => {
  const of = (headers: Record<string, string>) =>
    negotiate({ method: 'GET', headers, isUnmatched: false, pagesForBrowsers: () => true })
  t.equal(of({ accept: 'text/html' }), page)
  t.equal(of({ accept: 'text/html', 'sec-fetch-mode': 'navigate' }), page)
  t.equal(of({ accept: 'text/html, application/json' }), page)
  t.equal(of({ accept: 'text/html', 'sec-fetch-mode': 'cors' }), problem)
  t.equal(of({ accept: 'text/html;q=0.5, application/json' }), problem)
  t.equal(of({ accept: '*/*' }), problem)
  t.equal(of({}), problem)
  t.end()
})

test('any Accept is read, in time that grows with its length', (t) => {
  fc.assert(fc.property(fc.string(), (accept) => typeof refusesHtml({ accept }) === 'boolean'))
  t.equal(refusesHtml({ accept: 'application/json;'.repeat(10_000) }), true)
  t.end()
})
