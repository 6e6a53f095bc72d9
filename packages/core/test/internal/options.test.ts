import { Type } from '@sinclair/typebox'
import { test } from 'tap'
import {
  argumentProblems,
  closestName,
  createErrorCodes,
  option,
  optionProblems,
  type OptionsSchema,
} from '@fastify-modular/core/internal'

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
      findCaller: () => null,
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

test('a name that is close to no option is for others, but not inside of an option', (t) => {
  t.same(problemsOf({ skipOverride: true, bodyLimit: 1, toString: 1 }), [])
  t.same(problemsOf({ routes: { logger: true } }).length, 1)
  t.end()
})

test('a misspelt option is named with the nearest name and with those that exist, at any depth', (t) => {
  t.same(problemsOf({ timeOut: 5 }), [
    'unknown option timeOut (did you mean timeout?); expected timeout, mode, caller, routes or even',
  ])
  t.same(problemsOf({ routes: { prefx: 5 } }), [
    'unknown option routes.prefx (did you mean routes.prefix?); expected prefix',
  ])
  t.end()
})

test('an option that must not be left out is a problem where it is missing', (t) => {
  const strict: OptionsSchema<{ readonly name: string }> = Type.Object({
    name: option.required(option.string()),
  })
  t.same(optionProblems(strict, {} as { name: string }), ['name must be a string'])
  t.same(optionProblems(strict, { name: 'x' }), [])
  t.end()
})

test('an inherited option is checked like one of its own: the plugin reads it', (t) => {
  t.same(problemsOf(Object.create({ timeout: 0 }) as object), [
    'timeout must be a positive integer of milliseconds',
  ])
  t.end()
})

test('an argument is an object whose members are named with it', (t) => {
  const problems = (argument: unknown): string[] => argumentProblems(schema, argument as Options, 'options')
  t.same(problems({ mode: 'warn' }), [])
  t.match(problems({ mode: 'off', prefix: '/a' }), [
    /^options\.mode must be "warn" or "require"$/,
    /^unknown option options\.prefix/,
  ])
  for (const argument of [undefined, null, 5, 'text', []])
    t.same(problems(argument), ['options must be an object'])
  t.end()
})

test('the nearest name is found in any letter case, and none for a foreign one', (t) => {
  t.equal(closestName('TIMOUT', ['mode', 'timeout']), 'timeout')
  t.equal(closestName('currency', ['mode', 'timeout']), undefined)
  for (const near of ['timeuot', 'timout', 'timeoutt', 'timeouz', 'Timeout'])
    t.equal(closestName(near, ['timeout'], 1), 'timeout', near)
  for (const far of ['timeuto!', 'time', 'tmieuot']) t.equal(closestName(far, ['timeout'], 1), undefined, far)
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

test('the message of a misuse error ends with a line of its own, the address of its explanation', (t) => {
  const { FMOD_TEST_MISUSE: Misuse } = createErrorCodes({ FMOD_TEST_MISUSE: 'The name "%s" is taken.' })
  const error = new Misuse('a')
  t.match(error, { code: 'FMOD_TEST_MISUSE', statusCode: 500 })
  t.equal(
    error.message,
    'The name "a" is taken.\nhttps://github.com/fastify-modular/fastify-modular/blob/main/docs/reference/error-codes.md#fmod_test_misuse',
  )
  t.ok(error instanceof Misuse && error instanceof Error)
  t.end()
})
