// PostgreSQL with its own defaults: the server that tests start does not flush to disk, which is most of a write.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@fastify-modular/test-support/free-port'
import { guard } from '@fastify-modular/test-support/guard'
import { createCluster } from '@fastify-modular/test-support/postgres/cluster'

/**
 * Starts a server with an empty database. `stop` ends it and removes its folder, as does the end of this process.
 * `cpu` is what all of its processes have spent, in milliseconds; Linux only.
 */
export async function startDurablePostgres(settings = []) {
  const { bin, data, folder, user, password } = await createCluster()
  const port = await freePort()
  const options = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`, ...settings]
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...options.flatMap((option) => ['-c', option])], {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const callOff = guard({ pid: child.pid, folder })
  await ready(child)
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    cpu: () => cpuOf(child.pid),
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

/** A tick is a hundredth of a second on every Linux. */
const millisecondsPerTick = 10

/** Of the process, its children, and those of them that have ended. */
function cpuOf(pid) {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  let ticks = 0
  for (const id of processes) {
    const fields = statOf(id)
    if (id === String(pid)) ticks += sum(fields.slice(11, 15))
    else if (fields[1] === String(pid)) ticks += sum(fields.slice(11, 13))
  }
  return ticks * millisecondsPerTick
}

/** The fields behind the name of the program, from the state on; none of a process that has ended meanwhile. */
function statOf(id) {
  try {
    return readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1).split(' ')
  } catch {
    return []
  }
}

function sum(texts) {
  return texts.reduce((total, text) => total + Number(text), 0)
}
