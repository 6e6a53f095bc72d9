// Publishes what is not published yet: `node scripts/release.mjs`, or with `--dry-run` everything but the upload.
// The packages must be built. Provenance needs the identity token of the release workflow.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capture, quietPnpm, run } from './command.mjs'
import { manifestOf, packageFolders } from './files.mjs'

const isDryRun = process.argv.includes('--dry-run')
const folders = packageFolders().filter((folder) => !manifestOf(folder).private)
const versions = new Set(folders.map((folder) => manifestOf(folder).version))
const [version] = versions
if (versions.size !== 1 || !/^0\.[1-9]\d*\.\d+$/.test(version)) {
  throw new Error(
    `all packages have one version, from 0.1.0 and below 1.0.0; found ${[...versions].join(', ')}`,
  )
}

const scratch = mkdtempSync(join(tmpdir(), 'fastify-modular-release-'))
try {
  for (const folder of folders) {
    const { name } = manifestOf(folder)
    if (!isDryRun && (await isPublished(name))) {
      console.log(`${name}@${version} is published already`)
      continue
    }
    const { filename } = JSON.parse(
      await quietPnpm(['pack', '--json', '--pack-destination', scratch], { cwd: folder }),
    )
    await run('npm', ['publish', filename, '--access', 'public', isDryRun ? '--dry-run' : '--provenance'])
    console.log(`New tag: ${name}@${version}`) // read by the release workflow
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Also false for a package that no version exists of. */
async function isPublished(name) {
  try {
    return (await capture('npm', ['view', `${name}@${version}`, 'version'])).trim() === version
  } catch (error) {
    if (/E404/.test(error.message)) return false
    throw error
  }
}
