// Packs every package that is published and checks the tarballs as a stranger would meet them.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { capture } from '../command.mjs'
import { filesBelow, manifestOf, packageFolders } from '../files.mjs'
import { checkConsumer } from '../pack/check-consumer.mjs'
import { checkContent } from '../pack/check-content.mjs'
import { checkCreate } from '../pack/check-create.mjs'
import { checkFastifyCli } from '../pack/check-fastify-cli.mjs'
import { checkInstall } from '../pack/check-install.mjs'
import { createConsumer } from '../pack/consumer.mjs'
import { codeBlocks, typeScriptOptions } from '../pack/document-code.mjs'
import { packAll } from '../pack/stage.mjs'

export default async function pack() {
  const scratch = mkdtempSync(join(tmpdir(), 'fastify-modular-pack-'))
  try {
    const published = packageFolders().filter((folder) => !manifestOf(folder).private)
    const tarballs = await packAll(published, scratch)
    const packages = await all(
      published.map((folder) => readTarball(folder, tarballs.get(manifestOf(folder).name), scratch)),
    )
    const command = packages.find(({ manifest }) => manifest.name === 'create-fastify-modular')
    const libraries = packages.filter((each) => each !== command)
    const consumer = createConsumer(join(scratch, 'app'), libraries)
    const code = documents().map((path) => codeBlocks(path, readFileSync(path, 'utf8')))
    const use = {
      blocks: code.flatMap(({ blocks }) => blocks),
      options: typeScriptOptions(readFileSync('docs/guides/getting-started.md', 'utf8')),
    }
    await all([
      checkInstall(scratch, libraries),
      checkCreate(scratch, { command, packages }),
      checkConsumer(consumer, use).then(() => checkFastifyCli(consumer)),
    ])
    const fragments = code.flatMap((each) => each.fragments)
    console.log(`code of documents that is not compiled, being a fragment: ${fragments.join(', ') || 'none'}`)
    console.log(`packages fine: ${packages.map(({ manifest }) => manifest.name).join(', ')}`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Side by side, but to the end of all: nothing may run when the folder goes. @throws {Error} with every failure */
async function all(tasks) {
  const results = await Promise.allSettled(tasks)
  const failures = results.filter(({ status }) => status === 'rejected').map(({ reason }) => reason.message)
  if (failures.length > 0) throw new Error(failures.join('\n'))
  return results.map(({ value }) => value)
}

/** publint and attw read the tarball of a folder; `content` is where it is unpacked. */
async function readTarball(folder, filename, scratch) {
  await capture(process.execPath, ['node_modules/publint/src/cli.js', filename, '--strict'])
  const { exports } = manifestOf(folder)
  if (exports !== undefined) {
    // Style sheets have no types.
    const sheets = Object.keys(exports).filter((name) => name.endsWith('.css'))
    await capture(process.execPath, [
      'node_modules/@arethetypeswrong/cli/dist/index.js',
      filename,
      '--profile',
      'esm-only',
      ...(sheets.length > 0 ? ['--exclude-entrypoints', ...sheets] : []),
    ])
  }
  const content = join(scratch, folder)
  mkdirSync(content, { recursive: true })
  await capture('tar', ['-xzf', filename, '-C', content, '--strip-components=1'])
  const packed = { folder: resolve(folder), filename, content, manifest: manifestOf(content) }
  checkContent(packed)
  console.log(`${packed.manifest.name}: ${sizes(packed)}`)
  return packed
}

function sizes({ filename, content }) {
  const files = filesBelow(content)
  const kB = (paths) => Math.round(paths.reduce((sum, path) => sum + statSync(path).size, 0) / 1000)
  return `${kB([filename])} kB packed, ${kB(files)} kB unpacked, ${files.length} files`
}

/** The README files and everything below docs/. */
function documents() {
  const readmes = ['.', ...packageFolders()].map((folder) => join(folder, 'README.md'))
  return [...readmes.filter(existsSync), ...filesBelow('docs').filter((path) => path.endsWith('.md'))]
}
