/** The command as a process, in a folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { createShop } from './fixtures/shop.ts'

export const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const fixtures = fileURLToPath(new URL('../test/fixtures', import.meta.url))
/** A configuration of the tests, or one at an absolute path. */
export const fixture = (name: string) => resolve(fixtures, name)

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Given {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly onStart?: (child: ChildProcess) => void
  /** The configuration. */
  readonly config?: string
}

/** A folder with the database of an application that has served, and the command in it. */
export async function place(t: Test, given?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'cli-process-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const database = given ?? join(folder, 'shop.db')
  const app = await createShop({ database })
  await app.ready()
  await app.close()
  const command = (
    line: string,
    { env = {}, stdin = '', config = 'served.mjs', onStart }: Given = {},
  ): Promise<Run> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [main, ...line.split(' '), '--config', fixture(config)], {
        cwd: folder,
        env: { ...process.env, DATABASE: database, NODE_ENV: '', ...env },
        detached: onStart !== undefined, // a group of its own, which has the process of the application
      })
      const output = { stdout: '', stderr: '' }
      child.stdout.on('data', (chunk) => (output.stdout += String(chunk)))
      child.stderr.on('data', (chunk) => (output.stderr += String(chunk)))
      child.once('error', reject)
      child.once('close', (code) => resolve({ code, ...output }))
      child.stdin.end(stdin)
      onStart?.(child)
    })
  return { folder, database, command }
}
