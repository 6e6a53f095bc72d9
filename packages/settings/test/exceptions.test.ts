import { ErrorMessages, isDomainException } from '@fastify-modular/core'
import { SettingValidationException } from '@fastify-modular/settings'
import { test } from 'tap'

test('S 2.3.3, S 7.3: a setting that fails names its key and its errors, and all that failed travel by key', async (t) => {
  const one = new SettingValidationException('a.b', ['must be a number'])
  t.same(
    [one.key, one.errors, one.errorsByKey],
    ['a.b', ['must be a number'], { 'a.b': ['must be a number'] }],
  )
  t.same(
    [one.name, one.statusCode, one.code, one.title, one.message],
    [
      'SettingValidationException',
      422,
      'SETTING_VALIDATION',
      'Validation Error',
      ErrorMessages.ValidationError,
    ],
  )
  t.ok(isDomainException(one))
  const two = new SettingValidationException('a', ['x'], { a: ['x'], b: ['y'] })
  t.same(two.extensions, { errors: { a: ['x'], b: ['y'] } })
})
