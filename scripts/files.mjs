// Walks folders and fingerprints files.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'

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

/** tsc leaves the output of deleted sources behind: tests that are gone would still run, files still be packed. */
export function removeOrphans(sources, output) {
  for (const file of filesBelow(output)) {
    if (!file.endsWith('.d.ts')) continue
    const name = file.slice(0, -'.d.ts'.length)
    const source = join(sources, relative(output, name))
    if (existsSync(`${source}.ts`) || existsSync(`${source}.tsx`)) continue
    for (const ending of ['.js', '.js.map', '.d.ts', '.d.ts.map']) rmSync(name + ending, { force: true })
  }
}
