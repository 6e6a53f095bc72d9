/** Runs a test file of node:test, as a reader of the guides does. */
import { execFile } from 'node:child_process'

/** How a file of node:test ended. */
export interface NodeTestResult {
  readonly passed: number
  readonly failed: number
  /** What it printed, as TAP. */
  readonly output: string
}

/** Runs `node --test file` to its end, for at most four minutes. */
export async function runNodeTest(file: string): Promise<NodeTestResult> {
  const args = ['--test', '--test-reporter=tap', file]
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_OPTIONS: undefined }
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, args, { env, timeout: 240_000 }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    )
  })
  const count = (what: string): number =>
    Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? -1)
  return { passed: count('pass'), failed: count('fail'), output }
}
