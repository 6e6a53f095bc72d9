import { test } from 'tap'
import { hasPermission } from '@fastify-modular/core'
test('x', async (t) => { t.equal(hasPermission(null, 'x'), false) })
