import { unknownOptions } from '@fastify-modular/core'
import { test } from 'tap'

test('a plugin learns which of its options are misspelt; those of register belong to Fastify', async (t) => {
  const known = { provider: true, timeout: true }
  t.same(unknownOptions({ provider: {}, timeout: 1, prefix: '/x', logLevel: 'info' }, known), [])
  t.same(unknownOptions({ provider: {}, timout: 1, toString: 1 }, known), ['timout', 'toString'])
})
