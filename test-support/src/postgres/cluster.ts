/** One PostgreSQL data folder and the server process that runs on it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { guard, unref } from '../guard.ts'
import { postgresBinaries, postgresUser, type RunAs } from './binaries.ts'

/** A data folder made by initdb. */
export interface Cluster {
  /** For what is beside the data; below the system's temporary folder. */
  readonly folder: string
  readonly data: string
  readonly bin: string
  readonly user: RunAs
  readonly password: string
  /** `name=value`; the last one of a name wins. */
  readonly settings: readonly string[]
}

/** A running server. */
export interface ServerProcess {
  readonly port: number
  readonly pid: number
  /** Sends the signal and waits until the process is gone; SIGKILL after ten seconds. */
  end(signal: NodeJS.Signals): Promise<void>
}

/**
 * fsync and full_page_writes guard against a power loss, which no test causes. synchronous_commit guards the
 * committed row when the server is killed, which tests do: it stays on.
 */
const settings = [
  'fsync=off',
  'full_page_writes=off',
  'synchronous_commit=on',
  'max_connections=200',
  'max_wal_size=256MB', // the log may lie in memory
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
]

/** Creates the data folder. */
export async function createCluster(own: readonly string[]): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'fastify-modular-postgres-'))
  const data = await mkdtemp(join(await placeOfData(own), 'fastify-modular-postgres-'))
  try {
    const user = postgresUser()
    const bin = await postgresBinaries(user, folder)
    const cluster = {
      folder,
      data,
      bin,
      user,
      password: randomBytes(18).toString('hex'),
      settings: [...settings, ...own],
    }
    await initialise(cluster)
    return cluster
  } catch (error) {
    await removeFolders({ folder, data })
    throw error
  }
}

/** Removes all that a cluster has in files. */
export async function removeFolders({ folder, data }: Pick<Cluster, 'folder' | 'data'>): Promise<void> {
  for (const path of [folder, data]) await rm(path, { recursive: true, force: true, maxRetries: 5 })
}

/** Bytes that data of tests and the log of writes may take. */
const room = 4 * 2 ** 30

/**
 * A database is a copy of 300 files: on a disk that takes 130 ms of CPU, in memory 20. `TMPDIR` names another place, and a
 * server that flushes has its data on the disk.
 */
async function placeOfData(own: readonly string[]): Promise<string> {
  const memory = '/dev/shm'
  const isFree = process.env['TMPDIR'] === undefined && !own.includes('fsync=on')
  const space = isFree ? await statfs(memory).catch(() => null) : null
  return space !== null && space.bavail * space.bsize >= room ? memory : tmpdir()
}

/** Starts the server. A port taken meanwhile is replaced; backends of a killed server are waited for. */
export async function startServer(cluster: Cluster, fixedPort?: number): Promise<ServerProcess> {
  let output = ''
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = fixedPort ?? (await freePort())
    const child = spawn(
      join(cluster.bin, 'postgres'),
      ['-D', cluster.data, '-p', String(port), ...cluster.settings.flatMap((setting) => ['-c', setting])],
      { ...cluster.user, cwd: cluster.folder, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    output = await outputUntilReady(child)
    if (child.pid !== undefined && child.exitCode === null && output.includes(readyLine)) {
      return serverProcess(child, child.pid, port, cluster)
    }
    if (!/already in use|in use by|shared memory block|lock file/.test(output)) break
    await delay(50)
  }
  throw new Error(`PostgreSQL did not start:\n${output}`)
}

const readyLine = 'database system is ready to accept connections'

async function initialise({ folder, data, bin, user, password }: Cluster): Promise<void> {
  const passwordFile = join(folder, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  await chmod(folder, 0o755)
  if (user.uid !== undefined && user.gid !== undefined) {
    await Promise.all([folder, data, passwordFile].map((path) => chown(path, user.uid ?? 0, user.gid ?? 0)))
  }
  const child = spawn(
    join(bin, 'initdb'),
    [
      `--pgdata=${data}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
      '--no-instructions',
    ],
    { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`initdb failed with code ${code}:\n${errors}`)
}

/** Resolves when the server says it is ready, or when it has ended. */
async function outputUntilReady(child: ChildProcess): Promise<string> {
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
    child.stderr?.on('data', (chunk: Buffer) => {
      if (output.includes(readyLine)) return // keep reading, or the server would block on a full pipe
      output += chunk.toString()
      if (output.includes(readyLine)) resolve()
    })
  })
  return output
}

function serverProcess(
  child: ChildProcess,
  pid: number,
  port: number,
  { folder, data }: Cluster,
): ServerProcess {
  const callOff = guard({ pid, folders: [folder, data] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  unref(child)
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    callOff()
    if (child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    child.kill(signal)
    const patience = setTimeout(() => child.kill('SIGKILL'), 60_000)
    await exited
    clearTimeout(patience)
  }
  return { port, pid, end }
}
