import { test } from 'tap'
import { createMisuseError } from '@fastify-modular/core/internal'

test('the message of a misuse error ends with a line of its own, the address of its explanation', (t) => {
  const Misuse = createMisuseError<[string]>('FMOD_TEST_MISUSE', 'The name "%s" is taken.')
  const error = new Misuse('a')
  t.match(error, { code: 'FMOD_TEST_MISUSE', statusCode: 500 })
  t.equal(
    error.message,
    'The name "a" is taken.\nhttps://github.com/fastify-modular/fastify-modular/blob/main/docs/reference/error-codes.md#fmod_test_misuse',
  )
  t.ok(error instanceof Misuse && error instanceof Error)
  t.end()
})
