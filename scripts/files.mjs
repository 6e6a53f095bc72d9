// Walks folders and fingerprints files.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Every file below a folder, sorted; none when the folder is missing. */
export function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .toSorted()
}

/** One hash over names and contents. */
export function fingerprint(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/** Folders of the workspace with a package.json: `packages/core`, … */
export function packageFolders() {
  return readdirSync('packages')
    .map((name) => join('packages', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
}

/** The parsed package.json of a folder. */
export function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
