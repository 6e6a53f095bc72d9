import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import { option, optionProblems, type OptionsSchema } from '@fastify-modular/core/internal'

interface Options {
  readonly timeout?: number
  readonly mode?: 'warn' | 'require'
  readonly caller?: () => unknown
  readonly routes?: false | { readonly prefix?: string }
  readonly even?: number
}

const schema: OptionsSchema<Options> = Type.Object({
  timeout: option.milliseconds(),
  mode: option.oneOf('warn', 'require'),
  caller: option.function('a function of the request'),
  routes: Type.Union([Type.Literal(false), Type.Object({ prefix: option.string('a path such as "/api"') })], {
    description: 'false or { prefix }',
  }),
  even: option.that((value) => Number(value) % 2 === 0, 'an even number'),
})

/** What JavaScript may pass. */
const problemsOf = (options: object): string[] => optionProblems(schema, options as Options)

test('options that fit have no problems', (t) => {
  t.same(problemsOf({}), [])
  t.same(
    problemsOf({
      timeout: 1,
      mode: 'warn',
      caller: () => null,
      routes: { prefix: '/x' },
    }),
    [],
  )
  t.same(problemsOf({ timeout: undefined, routes: false }), [])
  t.end()
})

test('options of register that Fastify reads are not options of the plugin', (t) => {
  t.same(problemsOf({ prefix: '/a', logLevel: 'warn', logSerializers: {} }), [])
  t.match(problemsOf({ routes: { prefix: '/a', logLevel: 'warn' } }), [/^unknown option routes\.logLevel/])
  t.end()
})

test('a misspelt option is named with those that exist, at any depth', (t) => {
  t.same(problemsOf({ timeOut: 5 }), [
    'unknown option timeOut; expected timeout, mode, caller, routes or even',
  ])
  t.same(problemsOf({ routes: { prefx: 5 } }), ['unknown option routes.prefx; expected prefix'])
  t.end()
})

test('every value of another type is reported at once, by what it must be', (t) => {
  t.same(problemsOf({ timeout: 0, mode: 'off', caller: 'x', routes: true, even: 3 }), [
    'timeout must be a positive integer of milliseconds',
    'mode must be "warn" or "require"',
    'caller must be a function of the request',
    'routes must be false or { prefix }',
    'even must be an even number',
  ])
  t.same(problemsOf({ timeout: 2 ** 31, routes: { prefix: 1 } }), [
    'timeout must be a positive integer of milliseconds',
    'routes.prefix must be a path such as "/api"',
  ])
  t.same(problemsOf({ timeout: null, mode: null }).length, 2)
  t.end()
})
