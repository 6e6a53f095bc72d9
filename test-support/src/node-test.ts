/** Runs a test file of node:test, as a reader of the guides does. */
import { spawnNode } from './spawn-app.ts'

/** How a file of node:test ended. */
export interface NodeTestResult {
  readonly passed: number
  readonly failed: number
  /** What it printed, as TAP. */
  readonly output: string
}

/** Runs `node --test file` to its end. @throws {Error} with what it printed, when there is no result within four minutes */
export async function runNodeTest(file: string): Promise<NodeTestResult> {
  const env = { NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined }
  const run = spawnNode('--test', { args: ['--test-reporter=tap', file], env, timeout: 240_000 })
  const [, passed, failed] = await run.printed(/^# pass (\d+)$[^]*^# fail (\d+)$/m)
  await run.exited
  return { passed: Number(passed), failed: Number(failed), output: run.log() }
}
