// Runs a server of a scratch application until it has been asked.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Milliseconds after which a server that has not started, answered or stopped has failed. */
export const patience = 120_000

/**
 * Starts Node with these arguments and waits for the address that Fastify logs. Rejects with the output when the process
 * ends first.
 */
export async function startServer(args, { cwd, env }) {
  const server = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: patience,
  })
  const ended = once(server, 'close')
  return {
    url: await addressOf(server),
    /** Resolves to the exit code; null where a signal ended the process. */
    async stop() {
      server.kill('SIGTERM')
      const [code] = await ended
      return code
    },
  }
}

function addressOf(server) {
  let output = ''
  return new Promise((resolve, reject) => {
    const read = (chunk) => {
      output += chunk
      const url = /Server listening at (http:[^"\s]+)/.exec(output)?.[1]
      if (url) resolve(url)
    }
    server.stdout.on('data', read)
    server.stderr.on('data', read)
    server.once('close', () => reject(new Error(`${server.spawnargs.join(' ')} does not start:\n${output}`)))
  })
}
