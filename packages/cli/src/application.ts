/**
 * The process in which a command opens the application: what the application prints goes to standard error, and what keeps
 * it from ending ends this process alone. The report goes to the parent by IPC.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { report, safeRead } from '@fastify-modular/core/internal'
import type { FastifyInstance } from 'fastify'
import { type Call, UsageError } from './command.ts'
import { watchHooks } from './foreign-hooks.ts'
import { readCall } from './program.ts'
import { reportMember } from './report.ts'
import { runCommand } from './run-command.ts'

const configNames = ['js', 'mjs', 'cjs'].map((ending) => `fastify-modular.config.${ending}`)

/** Milliseconds that the application may take to close, and to open before that is said. */
const patience = 10_000

/** Runs a command line, sends its report to the parent, and ends the process. */
export async function serve(argv: readonly string[]): Promise<void> {
  // The command was ended: nothing more is written, and nobody would read the report.
  process.once('disconnect', () => process.exit(1))
  let app: FastifyInstance | undefined
  const call = await readCall(argv)
  const isCall = 'command' in call
  const outcome = isCall ? await runCommand(call, async () => (app = await openApplication(call))) : call
  await new Promise((sent) => process.send?.({ [reportMember]: outcome }, sent))
  if (app) await Promise.race([close(app), sleep(patience)])
  process.exit(0)
}

/** What was written stands; what closing would have done, such as sending what is queued, may not have happened. */
async function close(app: FastifyInstance): Promise<void> {
  try {
    await app.close()
  } catch (error) {
    console.error('The application did not close:', error)
  }
}

/** @throws {UsageError} there is no configuration, or it does not return an application */
async function openApplication({ name, command, options: given }: Call): Promise<FastifyInstance> {
  const migrates = command.migrates?.(given) === true
  // Before the first import of the application, so that it holds from the first registration on.
  Reflect.set(globalThis, Symbol.for('fastify-modular.command'), { name, migrates, findings: [] })
  watchHooks()
  const file = given.config ?? configNames.find((each) => existsSync(each))
  if (file === undefined || !existsSync(file))
    throw new UsageError(
      `There is no ${file ?? configNames[0]} here: a module that exports a function which returns the application.`,
    )
  const slow = setTimeout(
    () => console.error(`The application has not opened for ${patience / 1000} s.`),
    patience,
  )
  const { default: build }: { default?: unknown } = await import(pathToFileURL(resolve(file)).href)
  const options = {
    command: name,
    report: (problem: string) => report({ kind: 'cannot be served', text: problem, keys: [] }),
  }
  const app: unknown = typeof build === 'function' ? await build(options) : undefined
  if (!isApplication(app))
    throw new UsageError(`The default export of ${file} does not return an application.`)
  await app.ready()
  clearTimeout(slow)
  return app
}

function isApplication(value: unknown): value is FastifyInstance {
  return ['ready', 'close', 'hasDecorator'].every((method) => typeof safeRead(value, method) === 'function')
}
