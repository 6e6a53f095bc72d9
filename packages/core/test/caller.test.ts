import fc from 'fast-check'
import { test } from 'tap'
import { hasPermission, requireCaller, type Caller } from '@fastify-modular/core'

const caller = (permissions: string[], isAdmin = false): Caller => ({ id: 'u1', permissions, isAdmin })

test('decision 23: an exact name, the wildcard of its group and * grant a permission', async (t) => {
  t.equal(hasPermission(caller(['Settings.Update']), 'Settings.Update'), true)
  t.equal(hasPermission(caller(['Settings.*']), 'Settings.Update'), true)
  t.equal(hasPermission(caller(['Settings.*']), 'Settings.Values.Update'), true)
  t.equal(hasPermission(caller(['*']), 'Settings.Update'), true)
})

test('decision 23: nothing else grants a permission', async (t) => {
  for (const granted of [
    'Settings',
    'Settings.',
    'Set*',
    'Settings.Up*',
    'settings.update',
    '.*',
    '',
    'Settings.Update.*',
    'SettingsX.*',
  ]) {
    t.equal(hasPermission(caller([granted]), 'Settings.Update'), false, granted)
  }
  t.equal(hasPermission(caller(['Settings.*']), 'SettingsX.Update'), false)
  t.equal(hasPermission(caller(['Settings.*']), 'Settings'), false)
})

test('permissions of a caller that no type checked are compared without a failure', async (t) => {
  const untyped = (permissions: unknown): Caller => JSON.parse(JSON.stringify({ id: 'u1', permissions }))
  t.equal(hasPermission(untyped([42, null, {}, ['X.Y'], 'X.*']), 'X.Y'), true)
  for (const permissions of [[42, null, {}, ['X.Y']], undefined, null, 'X.Y', { 0: 'X.Y' }]) {
    t.equal(hasPermission(untyped(permissions), 'X.Y'), false, JSON.stringify(permissions))
  }
})

test('S 5.2: an administrator passes every check, an anonymous caller none', async (t) => {
  t.equal(hasPermission(caller([], true), 'Anything.AtAll'), true)
  t.equal(hasPermission(null, 'Settings.Update'), false)
  t.equal(hasPermission(undefined, 'Settings.Update'), false)
  // A provider that is not typed must not make an administrator by accident.
  t.equal(hasPermission({ ...caller([]), isAdmin: 'false' as unknown as boolean }, 'X'), false)
})

test('a permission that is not granted by name or wildcard is never held', async (t) => {
  const segment = fc.constantFrom('A', 'B', 'Settings', 'Update', '*')
  const name = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'))
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), name, (granted, wanted) => {
      const prefixes = wanted.split('.').map((_, index, all) => [...all.slice(0, index), '*'].join('.'))
      const expected = granted.some((one) => one === wanted || prefixes.includes(one))
      return hasPermission(caller(granted), wanted) === expected
    }),
  )
  t.pass('property holds')
})

test('requireCaller returns the caller of a request, and refuses an anonymous one with 401', async (t) => {
  const alice = caller([])
  t.equal(requireCaller({ caller: alice }), alice)
  for (const request of [{ caller: null }, {}]) {
    t.throws(() => requireCaller(request), { statusCode: 401, code: 'UNAUTHORIZED' })
  }
})
