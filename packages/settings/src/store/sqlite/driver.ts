/** Loads better-sqlite3, which is an optional peer, only when a SQLite store opens. */
import { createRequire } from 'node:module'
import type { Database } from 'better-sqlite3'
import { FMOD_SETTINGS_DRIVER_MISSING, FMOD_SETTINGS_DRIVER_UNSUPPORTED } from '../../misuse-errors.ts'

/** A path (`:memory:` for one that is gone with the process), or a connection of better-sqlite3 that you opened. */
export type SqliteSource = { readonly file: string } | { readonly database: Database }

/**
 * Opens a file with better-sqlite3.
 * @throws {FMOD_SETTINGS_DRIVER_MISSING} it is not installed
 * @throws {FMOD_SETTINGS_DRIVER_UNSUPPORTED} it does not work with this Node
 */
export async function openFile(file: string, busyTimeout: number): Promise<Database> {
  checkDriver(installedVersion(), process.versions.node)
  const { default: DatabaseFile } = await import('better-sqlite3')
  return new DatabaseFile(file, { timeout: busyTimeout })
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
    'Install better-sqlite3@12, or use Node 22 or newer.',
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
