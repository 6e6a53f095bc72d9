/** The command in this process, at a terminal or without one. */
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { run } from '#src/run.js'
import type { Test } from 'tap'

export interface Outcome {
  readonly code: number
  readonly output: string
  readonly errors: string
}

interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>
  /** What is typed, one answer for each question; null ends the input. Without it there is no terminal. */
  readonly answers?: readonly (string | null)[]
}

/** Runs the command to its end. Folders are relative to the working directory: name absolute ones. */
export async function create(args: readonly string[], options: CommandOptions = {}): Promise<Outcome> {
  const { env = {}, answers } = options
  const isTTY = answers !== undefined
  const input = Object.assign(new PassThrough(), { isTTY })
  const output = Object.assign(new PassThrough(), { isTTY })
  const errors = new PassThrough()
  const left = [...(answers ?? [])]
  let printed = ''
  output.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    if (!text.endsWith('): ')) return
    const answer = left.shift()
    if (typeof answer === 'string') input.write(`${answer}\n`)
    else input.end()
  })
  const code = await run(args, { env, input, output, errors })
  return { code, output: printed, errors: String(errors.read() ?? '') }
}

/** An empty folder that goes with the test. */
export function scratchFolder(t: Test): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'create-')))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Everything below a folder, hidden drafts included. */
export function contentOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
}
