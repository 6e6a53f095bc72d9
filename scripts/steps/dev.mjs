// Compiles what is saved, builds the pages anew and starts the example again, until Ctrl+C. Sessions are in its database: people stay signed in.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { packageFolders } from '../files.mjs'
import { buildPages } from './build.mjs'

/** Milliseconds after a change: editors save in several steps. */
const pause = 50

export default async function dev() {
  process.env.PAGES = 'quick'
  process.env.DRAIN_SECONDS ??= '0'
  const compiler = spawn(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '--build', '--watch', '--preserveWatchOutput', ...packageFolders()],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let example
  let work = Promise.resolve()
  let waiting

  /** Vite reads the sources of pages itself and need not wait for the compiler; whatever it gives out comes here as well. */
  const renew = () => {
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      work = work.then(restart).catch((error) => console.error(error.message))
    }, pause)
  }
  const restart = async () => {
    await buildPages(packageFolders())
    await end(example)
    example = spawn(process.execPath, ['packages/host-example/dist/main.js'], { stdio: 'inherit' })
  }

  compiler.stdout.setEncoding('utf8').on('data', (text) => {
    process.stdout.write(text)
    if (/Found \d+ errors?\. Watching/.test(text)) renew()
  })
  const watchers = ['settings-ui', 'host-example'].map((name) =>
    watch(
      `packages/${name}/src`,
      { recursive: true },
      (_, file) => /\.(?:tsx|css|json)$/.test(file) && renew(),
    ),
  )
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), once(compiler, 'exit')])
  clearTimeout(waiting)
  for (const watcher of watchers) watcher.close()
  await work
  await Promise.all([end(compiler), end(example)])
}

async function end(child) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await once(child, 'exit')
}
