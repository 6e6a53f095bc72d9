/** Cleans up after a process even when the test that started it is killed and no handler of its own can run. */
import { type ChildProcess, spawn } from 'node:child_process'

/** What is left behind when nobody cleans up. */
export interface Leftovers {
  /** Interrupted, and after five seconds killed. */
  readonly pid: number
  /** Removed once the process is gone. @default [] */
  readonly folders?: readonly string[]
}

/** A shell whose input closes when this process dies, however it dies; only then does it act. */
const script = `
  read -r word
  [ "$word" = done ] && exit
  pid=$1
  shift
  kill -INT "$pid"
  for tenth in $(seq 50); do kill -0 "$pid" || break; sleep 0.1; done
  kill -KILL "$pid"
  rm -rf "$@"
`

/**
 * Ends a process and removes its folders as soon as this process has died, by SIGKILL too.
 * Returns the function that calls the guard off, for those who cleaned up themselves. POSIX only; elsewhere it does nothing.
 */
export function guard({ pid, folders = [] }: Leftovers): () => void {
  if (process.platform === 'win32') return () => {}
  const shell = spawn('sh', ['-c', script, 'guard', String(pid), ...folders], {
    detached: true, // a Ctrl-C in the terminal must not take the guard away with the test
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.on('error', () => {})
  shell.stdin.on('error', () => {})
  unref(shell)
  return () => {
    shell.stdin.end('done\n')
  }
}

/** Lets this process end although the child and its pipes are open. */
export function unref(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
  }
}
