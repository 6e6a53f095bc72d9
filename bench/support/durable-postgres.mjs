// PostgreSQL that flushes to disk, as it does by default: the server that tests start does not, and flushing is most of a write.
import { readdirSync, readFileSync } from 'node:fs'
import { startPostgres } from '@fastify-modular/test-support/postgres'

/**
 * Starts a server with an empty database. `stop` ends it and removes its folder, as does the end of this process.
 * `cpu` is what all of its processes have spent, in milliseconds; Linux only.
 */
export async function startDurablePostgres() {
  const server = await startPostgres(['fsync=on', 'full_page_writes=on'])
  return { ...server, cpu: () => cpuOf(server.pid) }
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
