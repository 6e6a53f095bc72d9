// Packs every package that is published and checks the tarballs as a stranger would meet them.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { capture, quietPnpm } from '../command.mjs'
import { filesBelow, manifestOf, packageFolders } from '../files.mjs'
import { checkConsumer } from '../pack/check-consumer.mjs'
import { checkFastifyCli } from '../pack/check-fastify-cli.mjs'
import { createConsumer } from '../pack/consumer.mjs'
import { codeBlocks } from '../pack/document-code.mjs'

export default async function pack() {
  const scratch = mkdtempSync(join(tmpdir(), 'fastify-modular-pack-'))
  try {
    const packages = []
    for (const folder of packageFolders()) {
      if (!manifestOf(folder).private) packages.push(await packOne(folder, scratch))
    }
    const consumer = createConsumer(join(scratch, 'app'), packages)
    const code = documents().map((path) => codeBlocks(path, readFileSync(path, 'utf8')))
    await checkConsumer(
      consumer,
      code.flatMap(({ blocks }) => blocks),
    )
    await checkFastifyCli(consumer)
    const fragments = code.flatMap((each) => each.fragments)
    console.log(`code of documents that is not compiled, being a fragment: ${fragments.join(', ') || 'none'}`)
    console.log(`packages fine: ${packages.map(({ manifest }) => manifest.name).join(', ')}`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Packs one folder; publint and attw read the tarball, `content` is where it is unpacked. */
async function packOne(folder, scratch) {
  const { filename } = JSON.parse(
    await quietPnpm(['pack', '--json', '--pack-destination', scratch], { cwd: folder }),
  )
  await capture(process.execPath, ['node_modules/publint/src/cli.js', filename, '--strict'])
  await capture(process.execPath, [
    'node_modules/@arethetypeswrong/cli/dist/index.js',
    filename,
    '--profile',
    'esm-only',
  ])
  const content = join(scratch, folder)
  mkdirSync(content, { recursive: true })
  await capture('tar', ['-xzf', filename, '-C', content, '--strip-components=1'])
  return { folder: resolve(folder), content, manifest: manifestOf(content) }
}

/** The README files and everything below docs/. */
function documents() {
  const readmes = ['.', ...packageFolders()].map((folder) => join(folder, 'README.md'))
  return [...readmes.filter(existsSync), ...filesBelow('docs').filter((path) => path.endsWith('.md'))]
}
