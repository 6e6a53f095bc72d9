// PostgreSQL with its own defaults: the server that tests start does not flush to disk, which is most of a write.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@fastify-modular/test-support/free-port'
import { guard } from '@fastify-modular/test-support/guard'
import { createCluster } from '@fastify-modular/test-support/postgres/cluster'

/** Starts a server with an empty database. `stop` ends it and removes its folder, as does the end of this process. */
export async function startDurablePostgres() {
  const { bin, data, folder, user, password } = await createCluster()
  const port = await freePort()
  const options = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`]
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...options.flatMap((option) => ['-c', option])], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const callOff = guard({ pid: child.pid, folder })
  await ready(child)
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async stop() {
      callOff()
      child.kill('SIGINT')
      await once(child, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function ready(child) {
  let output = ''
  return new Promise((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text
      if (output.includes('ready to accept connections')) resolve()
    })
    child.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${output}`)))
  })
}
