import { runNodeTest } from '@fastify-modular/test-support/node-test'
import { writeGuideCode } from '@fastify-modular/test-support/guide-code'
import { test } from 'tap'

const guide = new URL('../../../../docs/guides/event-transports.md', import.meta.url)

test('the transport of the guide passes the contract under node:test', async (t) => {
  const [file = ''] = writeGuideCode(guide, new URL('./code/', import.meta.url))
  const { passed, failed, output } = await runNodeTest(file)
  t.equal(failed, 0, output)
  t.ok(passed >= 18, `${passed} rules`)
})
