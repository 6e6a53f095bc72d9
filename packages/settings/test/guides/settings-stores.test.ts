import { runNodeTest } from '@fastify-modular/test-support/node-test'
import { writeGuideCode } from '@fastify-modular/test-support/guide-code'
import { test } from 'tap'

const guide = new URL('../../../../docs/guides/settings-stores.md', import.meta.url)

test('the store of the guide passes the contract under node:test', async (t) => {
  const [file = ''] = writeGuideCode(guide, new URL('./code/', import.meta.url))
  const { passed, failed, output } = await runNodeTest(file)
  t.equal(failed, 0, output)
  t.ok(passed >= 60, `${passed} tests`)
})
