import { readEnvPaths } from '#src/initial-rules.js'
import fc from 'fast-check'
import { test } from 'tap'
import { gatedApp } from './support/application.ts'

const code = 'FMOD_PUBLIC_ROUTES_INVALID_ENV'
const read = (text: string) => readEnvPaths({ SM_AUTH_PUBLIC_PATHS: text })

test('S 5.7: each path is a prefix rule for every method', async (t) => {
  const rules = read('["/api/integrations/webhook", "/status"]')
  t.same(
    rules.map(({ kind, pattern, methods }) => [kind, pattern, methods]),
    [
      ['prefix', '/api/integrations/webhook', null],
      ['prefix', '/status', null],
    ],
  )
})

test('S 5.7: a variable that is unset or empty, and an empty array, open nothing', async (t) => {
  t.same(readEnvPaths({}), [])
  t.same(read(''), [])
  t.same(read('[]'), [])
})

const refused: readonly [string, RegExp][] = [
  ['/status', /position 0/],
  ['["/a" "/b"]', /position 6/],
  ['["/a", x]', /position 7/],
  ['["/a"', /position 5/],
  ['"/status"', /not an array/],
  ['{"0":"/a"}', /not an array/],
  ['null', /not an array/],
  ['["/a", 1]', /element 1 is not a string/],
  ['[null]', /element 0 is not a string/],
  ['["/a", ""]', /element 1 .*empty/],
  ['["/"]', /element 0 .*whole application/],
  ['["api"]', /element 0 .*begins with a slash/],
]

for (const [text, message] of refused) {
  test(`decision 36: ${JSON.stringify(text)} is a boot error that shows the position`, async (t) => {
    t.throws(() => read(text), { code, message })
    await t.rejects(gatedApp(t, { env: { SM_AUTH_PUBLIC_PATHS: text } }), { code })
  })
}

test('a text that is not JSON is not quoted in the message', async (t) => {
  try {
    read('postgres://user:hunter2@host')
    t.fail('no error')
  } catch (err) {
    t.notMatch(String(err), /hunter2/)
  }
})

test('property 14: any JSON value gives exactly its prefixes or a clear refusal', async (t) => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.json(),
        fc.array(fc.webPath()).map((paths) => JSON.stringify(paths)),
      ),
      (text) => {
        let rules
        try {
          rules = read(text)
        } catch (err) {
          return err instanceof Error && 'code' in err && err.code === code
        }
        const patterns = rules.map(({ pattern }) => pattern)
        return (
          JSON.stringify(patterns) === JSON.stringify(JSON.parse(text)) &&
          !patterns.includes('') &&
          !patterns.includes('/')
        )
      },
    ),
    { numRuns: 3000, seed: 1 },
  )
  t.pass()
})

test('a long text of quotes and blanks is refused at once', async (t) => {
  t.throws(() => read(`["a"${' '.repeat(50_000)}${'"x" '.repeat(20_000)}`), { code })
})

test('S 5.7: the application reads the variable from the environment, and opens its paths for every verb', async (t) => {
  const app = await gatedApp(t, { env: { SM_AUTH_PUBLIC_PATHS: '["/status"]' } })
  app.route({ method: ['GET', 'POST'], url: '/status', handler: async () => 'ok' })
  t.equal((await app.inject('/status')).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url: '/status' })).statusCode, 200)
})
