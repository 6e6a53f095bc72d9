import { readFile } from 'node:fs/promises'
import { runNodeTest } from '@fastify-modular/test-support/node-test'
import { writeGuideCode } from '@fastify-modular/test-support/guide-code'
import { test } from 'tap'

const guide = new URL('../../../../docs/guides/event-transports.md', import.meta.url)

/** A busy machine may be slow. */
function patient(code: string): string {
  return code.replace(/\n\}\)\n$/, '\n}, { patience: 60_000 })\n')
}

test('the transport of the guide passes the contract under node:test', async (t) => {
  const [file = ''] = writeGuideCode(guide, new URL('./code/', import.meta.url), patient)
  const { passed, failed, output } = await runNodeTest(file)
  t.match(await readFile(file, 'utf8'), /patience: 60_000/)
  t.equal(failed, 0, output)
  t.ok(passed >= 12, `${passed} rules`)
})
