import fc from 'fast-check'
import { test } from 'tap'
import { ownMembers } from '#src/modules/module.js'
import { orderModules } from '#src/modules/order.js'

const module = (name: string, ...dependsOn: string[]) => ({ name, dependsOn })
const names = (modules: { name: string }[]) => orderModules(modules).map(({ name }) => name)

test('decision 49: modules follow their dependencies, ties stay in the order given', async (t) => {
  t.same(names([]), [])
  t.same(names([module('a'), module('b'), module('c')]), ['a', 'b', 'c'])
  t.same(names([module('c', 'b'), module('b', 'a'), module('a')]), ['a', 'b', 'c'])
  t.same(names([module('d', 'b', 'c'), module('b', 'a'), module('c', 'a'), module('a')]), [
    'a',
    'b',
    'c',
    'd',
  ])
  t.same(names([module('a', 'b', 'b'), module('b')]), ['b', 'a'])
})

test('decision 49: a cycle is a boot error that prints its path', async (t) => {
  const cycle = [module('x'), module('a', 'b'), module('b', 'c'), module('c', 'a')]
  t.throws(() => orderModules(cycle), { code: 'FMOD_CORE_DEPENDENCY_CYCLE', message: /a → b → c → a/ })
  t.throws(() => orderModules([module('self', 'self')]), {
    code: 'FMOD_CORE_DEPENDENCY_CYCLE',
    message: /self → self/,
  })
})

test('decision 49: an unknown dependency is a boot error that names both modules', async (t) => {
  const error = { code: 'FMOD_CORE_UNKNOWN_DEPENDENCY', message: /"notes" depends on "mail"/ }
  t.throws(() => orderModules([module('notes', 'mail')]), error)
})

test('an optional dependency comes first where it is in the list, and may be missing', async (t) => {
  const billing = { name: 'billing', optionalDependsOn: ['audit'] }
  t.same(names([billing, module('audit', 'log'), module('log')]), ['log', 'audit', 'billing'])
  t.same(names([billing, module('log')]), ['billing', 'log'])
  t.throws(() => orderModules([billing, module('audit', 'billing')]), {
    code: 'FMOD_CORE_DEPENDENCY_CYCLE',
    message: /billing → audit → billing/,
  })
})

test('decision 49: two modules of one name are a boot error', async (t) => {
  t.throws(() => orderModules([module('a'), module('a')]), {
    code: 'FMOD_CORE_DUPLICATE_MODULE',
    message: /"a"/,
  })
})

test('a module without a name is a boot error', async (t) => {
  for (const broken of [{ name: '' }, { name: 5 }, {}, null]) {
    t.throws(() => orderModules([broken as never]), { code: 'FMOD_CORE_INVALID_MODULE' })
  }
})

test('a module that is a class, or an object of one, is refused: what it inherits would be left out', async (t) => {
  class Notes {
    static readonly settings = {}
    readonly name = 'notes'
    readonly settings = {}
  }
  for (const wrong of [Notes, new Notes(), Object.create({ name: 'notes' })])
    t.throws(() => orderModules([wrong]), {
      code: 'FMOD_CORE_INVALID_MODULE',
      message: /otes.*not a plain object/,
    })
  t.same(names([Object.assign(Object.create(null), { name: 'notes' })]), ['notes'])
})

test('a member of the wrong type is a boot error that names the module', async (t) => {
  const wrong = {
    plugin: 5,
    prefix: 5,
    dependsOn: 'notes',
    optionalDependsOn: 'notes',
  }
  t.same([...Object.keys(wrong), 'name'].toSorted(), [...ownMembers].toSorted(), 'every member is tried')
  const lists = [{ name: 'notes' }, 5, undefined, ''].flatMap((noName) => [
    ['dependsOn', ['audit', noName]] as const,
    ['optionalDependsOn', ['audit', noName]] as const, // would be taken for a module that is not there
  ])
  for (const [member, value] of [...Object.entries(wrong), ...lists]) {
    t.throws(() => orderModules([{ name: 'mail', [member]: value } as never]), {
      code: 'FMOD_CORE_INVALID_MODULE',
      message: new RegExp(`"mail" is not valid: ${member} must be a`),
    })
  }
})

test('names of object members are ordinary module names', async (t) => {
  t.same(names([module('constructor', '__proto__'), module('__proto__')]), ['__proto__', 'constructor'])
})

test('every order of an acyclic graph puts dependencies first', async (t) => {
  const graph = fc
    .integer({ min: 1, max: 8 })
    .chain((size) =>
      fc.tuple(
        fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 20 }),
        fc.shuffledSubarray([...Array(size).keys()], { minLength: size }),
      ),
    )
  fc.assert(
    fc.property(graph, ([edges, order]) => {
      const dependsOn = (index: number) =>
        edges.filter(([a, b]) => a === index && b < a).map(([, b]) => String(b))
      const ordered = names(order.map((index) => module(String(index), ...dependsOn(index))))
      return edges.every(
        ([a, b]) =>
          b >= a || !ordered.includes(String(a)) || ordered.indexOf(String(b)) < ordered.indexOf(String(a)),
      )
    }),
  )
  t.pass('property holds')
})
