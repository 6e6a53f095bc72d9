import { test } from 'tap'
import { ConflictException, NotFoundException, ServiceUnavailableException } from '@fastify-modular/core'
import {
  type Problem,
  problemOfError,
  problemOfStatus,
  problemText,
  problemType,
  routeNotFound,
} from '@fastify-modular/core/problem'

const request = { originalUrl: '/a/b?token=secret', id: 'req-1', headers: {} }
const bodyOf = (problem: Problem, of: Partial<typeof request> = {}) =>
  JSON.parse(problemText(problem, { ...request, ...of })) as Record<string, unknown>

test('decision 42: the members of every problem stand in one order, extensions last', (t) => {
  const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
  const problem = problemOfError(new ConflictException('taken', { balance: 30, detail: 'never' }))
  t.equal(
    problemText(problem, { ...request, headers }),
    '{"type":"urn:problem:conflict","title":"Conflict","status":409,"detail":"taken","instance":"/a/b",' +
      '"code":"CONFLICT","requestId":"req-1","traceId":"4bf92f3577b34da6a3ce929d0e0e4736","balance":30}',
  )
  t.end()
})

test('decision 63: a missing route and a missing resource differ in code, type and title', (t) => {
  t.match(bodyOf(routeNotFound), { code: 'ROUTE_NOT_FOUND', type: 'about:blank', title: 'Not Found' })
  t.match(bodyOf(problemOfError(new NotFoundException('Product', 42))), {
    code: 'NOT_FOUND',
    type: 'urn:problem:not-found',
    title: 'Resource not found',
  })
  t.end()
})

test('decision 63: instance is the canonical path as it was sent, and missing where there is none', (t) => {
  const table: Readonly<Record<string, string | undefined>> = {
    '/': '/',
    '/caf%C3%A9?x=1': '/caf%C3%A9',
    '/a;b': undefined,
    '/a//b': undefined,
    '/%61': undefined,
    '/a"b': undefined,
    '*': undefined,
    '': undefined,
    'http://host/a': undefined,
    [`/${'a'.repeat(3000)}`]: undefined,
  }
  for (const [url, instance] of Object.entries(table)) {
    const body = bodyOf(problemOfStatus(404), { originalUrl: url })
    t.equal(body['instance'], instance, url)
    t.equal('instance' in body, instance !== undefined)
  }
  t.end()
})

test('problems of one type with other titles, details and statuses do not get the text of the first', (t) => {
  const first: Problem = { type: 'urn:x', title: 'A', status: 400, detail: 'one', code: 'X' }
  const variants: readonly Problem[] = [
    first,
    { ...first, detail: 'two' },
    { ...first, title: 'B' },
    { ...first, status: 409 },
    { ...first, code: 'Y' },
    first,
  ]
  for (const problem of variants) t.match(bodyOf(problem), { ...problem })
  t.end()
})

test('a detail is cut at 2,000 characters, whichever is seen first', (t) => {
  const long: Problem = { type: 'urn:long', title: 'A', status: 400, detail: 'é'.repeat(5000), code: 'X' }
  t.equal(String(bodyOf(long)['detail']).length, 2000)
  t.equal(bodyOf({ ...long, detail: 'short' })['detail'], 'short')
  t.equal(String(bodyOf(long)['detail']).length, 2000)
  t.end()
})

test('a 5xx never carries the message of its error', (t) => {
  for (const error of [new Error('secret'), new ServiceUnavailableException('secret'), 'secret', null, 1n]) {
    t.notMatch(problemText(problemOfError(error), request), /secret/)
  }
  t.end()
})

test('a type is made of its code under the base that the application names', (t) => {
  t.equal(problemType('SETTING_VALIDATION'), 'urn:problem:setting-validation')
  t.equal(problemType('GONE', 'https://example.com/problems/'), 'https://example.com/problems/gone')
  t.equal(
    problemOfError(new NotFoundException('A', 1), { typeBase: 'https://e.org/' }).type,
    'https://e.org/not-found',
  )
  t.end()
})
