/** Loads better-sqlite3, which is an optional peer, only when a SQLite store opens. */
import { createRequire } from 'node:module'
import type Driver from 'better-sqlite3'
import { FMOD_SETTINGS_DRIVER_MISSING, FMOD_SETTINGS_DRIVER_UNSUPPORTED } from '../../misuse-errors.ts'

/**
 * Opens a file with better-sqlite3.
 * @throws {FMOD_SETTINGS_DRIVER_MISSING} it is not installed
 * @throws {FMOD_SETTINGS_DRIVER_UNSUPPORTED} it does not work with this Node, or its binary is missing
 */
export async function openFile(file: string, busyTimeout: number): Promise<Driver.Database> {
  const version = installedVersion()
  checkDriver(version, process.versions.node)
  const DatabaseFile = await loadDriver(version)
  return new DatabaseFile(file, { timeout: busyTimeout })
}

/** The binary is loaded with the first connection; one in memory needs nothing else. */
async function loadDriver(version: string): Promise<typeof Driver> {
  try {
    const { default: Database } = await import('better-sqlite3')
    new Database(':memory:').close()
    return Database
  } catch (cause) {
    const reason =
      'its binary is missing or was built for another Node. Run: npm rebuild better-sqlite3 (version 12 needs a C++ compiler, make and Python where it finds no prebuilt binary)'
    throw Object.assign(new FMOD_SETTINGS_DRIVER_UNSUPPORTED(version, process.versions.node, reason), {
      cause,
    })
  }
}

/**
 * better-sqlite3 13 ends older processes with a segmentation fault, so its version is looked at before it is loaded.
 * @throws {FMOD_SETTINGS_DRIVER_UNSUPPORTED}
 */
export function checkDriver(driver: string, node: string): void {
  if (Number.parseInt(driver, 10) < 13 || Number.parseInt(node, 10) >= 22) return
  throw new FMOD_SETTINGS_DRIVER_UNSUPPORTED(
    driver,
    node,
    'it would crash the process without a message. Install better-sqlite3@12, or use Node 22 or newer.',
  )
}

function installedVersion(): string {
  try {
    const manifest: { version: string } = createRequire(import.meta.url)('better-sqlite3/package.json')
    return manifest.version
  } catch (error) {
    const missing = new FMOD_SETTINGS_DRIVER_MISSING('sqlite', 'better-sqlite3', 'better-sqlite3')
    missing.cause = error
    throw missing
  }
}
