/** Replays the transcript of the README against the real application. */
import { readFile } from 'node:fs/promises'
import { replay, stepsOf } from '@fastify-modular/test-support/transcript'
import { test } from 'tap'
import { startHost } from './host.js'

test('the transcript in the README is what the application answers', async (t) => {
  const steps = stepsOf(await readFile(new URL('../README.md', import.meta.url), 'utf8'))
  t.equal(steps.length, 4)
  const host = await startHost(t)
  await replay(t, steps, host.url)
})
