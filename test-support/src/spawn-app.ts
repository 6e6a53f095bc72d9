/** Runs an application as its users do: a process of its own, watched from outside. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { guard } from './guard.ts'

/** How to start the application. */
export interface SpawnOptions {
  readonly args?: readonly string[]
  /** Added to this process' environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** In ms: how long to wait for the address, for a log line, and for the end. @default 120000 */
  readonly timeout?: number
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process and all that it printed. */
export interface SpawnedProcess {
  readonly pid: number
  /** Everything printed so far, on stdout and stderr. */
  readonly log: () => string
  /** Waits until the log matches. @throws {Error} with the log, when the process ends first or time is up */
  readonly printed: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Resolves when the process has ended. */
  readonly exited: Promise<Exit>
  /**
   * Sends the signal (SIGTERM by default) and waits for the end; after `patience` ms (by default the time-out) SIGKILL,
   * visible in the result.
   */
  readonly stop: (signal?: NodeJS.Signals, patience?: number) => Promise<Exit>
}

/** A server that is listening. */
export interface SpawnedApp extends SpawnedProcess {
  /** The first address that it printed, without a trailing slash. */
  readonly url: string
  readonly port: number
}

const anAddress = /https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):(\d+)/

/**
 * Starts a Node entry file and waits until it prints a loopback address.
 * @throws {Error} with everything it printed, when it ends or stays silent instead
 */
export async function spawnApp(entry: string | URL, options: SpawnOptions = {}): Promise<SpawnedApp> {
  const app = spawnNode(entry, options)
  try {
    const [url, port] = await app.printed(anAddress)
    return { ...app, url, port: Number(port) }
  } catch (error) {
    await app.stop('SIGKILL')
    throw error
  }
}

/** Starts a Node entry file; for those that are expected to end or to print something else. It dies with this process. */
export function spawnNode(entry: string | URL, options: SpawnOptions = {}): SpawnedProcess {
  const { args = [], env = {}, cwd, timeout = 120_000 } = options
  const file = entry instanceof URL ? fileURLToPath(entry) : entry
  const child = spawn(process.execPath, [file, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`No process could be started for ${file}`)
  const callOff = guard({ pid })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  }
  const exited = exitOf(child)
  void exited.then(callOff)
  return {
    pid,
    log: () => text,
    exited,
    printed: (pattern) => printed(child, () => text, pattern, timeout),
    stop: (signal = 'SIGTERM', patience = timeout) => stop(child, exited, signal, patience),
  }
}

/** Streams are read to their end before `close`: the log is complete by then. */
function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
}

async function stop(
  child: ChildProcess,
  exited: Promise<Exit>,
  signal: NodeJS.Signals,
  patience: number,
): Promise<Exit> {
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), patience)
  const exit = await exited
  clearTimeout(timer)
  return exit
}

function printed(
  child: ChildProcess,
  log: () => string,
  pattern: RegExp,
  timeout: number,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const finish = (failure?: string): void => {
      const match = pattern.exec(log())
      if (!match && failure === undefined) return
      clearTimeout(timer)
      child.stdout?.off('data', onData)
      child.stderr?.off('data', onData)
      child.off('close', onClose)
      if (match) resolve(match)
      else reject(new Error(`${failure} before it printed ${pattern}:\n${log()}`))
    }
    const onData = (): void => finish()
    const onClose = (): void => finish('The process ended')
    const timer = setTimeout(() => finish(`${timeout} ms passed`), timeout)
    child.stdout?.on('data', onData)
    child.stderr?.on('data', onData)
    child.once('close', onClose)
    if (child.exitCode !== null || child.signalCode !== null) finish('The process ended')
    else finish()
  })
}
