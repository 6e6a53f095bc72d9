import { readFile } from 'node:fs/promises'
import { writeGuideCode } from '@fastify-modular/test-support/guide-code'
import { spawnNode } from '@fastify-modular/test-support/spawn-app'
import { test } from 'tap'

const guide = new URL('../../../../docs/guides/event-transports.md', import.meta.url)

/** A busy machine may be slow. */
function patient(code: string): string {
  return code.replace(/\n\}\)\n$/, '\n}, { patience: 60_000 })\n')
}

test('the transport of the guide passes the contract under node:test', async (t) => {
  const [file = ''] = writeGuideCode(guide, new URL('./code/', import.meta.url), patient)
  const env = { NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined }
  const run = spawnNode('--test', { args: ['--test-reporter=tap', file], env, timeout: 240_000 })
  const [, passed, failed] = await run.printed(/^# pass (\d+)$[^]*^# fail (\d+)$/m)
  await run.exited
  t.match(await readFile(file, 'utf8'), /patience: 60_000/)
  t.equal(failed, '0', run.log())
  t.ok(Number(passed) >= 12, `${passed} rules`)
})
