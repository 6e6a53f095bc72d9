// Compiles every package and the tools of tests, then builds the front ends that have a Vite configuration. Tests are compiled before they run.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { capture, node } from '../command.mjs'
import { filesBelow, fingerprint, manifestOf, packageFolders, removeOrphans } from '../files.mjs'

export default async function build() {
  for (const folder of packageFolders()) removeOrphans(join(folder, 'src'), join(folder, 'dist'))
  await node('node_modules/typescript/bin/tsc', ['--build', ...packageFolders(), 'test-support'])
  for (const folder of packagesFirst()) {
    const config = ['vite.config.ts', 'vite.config.mjs'].map((name) => join(folder, name)).find(existsSync)
    if (config !== undefined) await buildPages(folder, config)
  }
}

/** Applications, which are private, take in what the front ends of packages give out. */
function packagesFirst() {
  const isPrivate = (folder) => manifestOf(folder).private === true
  return packageFolders().toSorted((a, b) => isPrivate(a) - isPrivate(b))
}

/** Vite takes seconds; unchanged sources (of any package, they import each other) are not built again. */
async function buildPages(folder, config) {
  const stamp = join('node_modules/.cache/pages', folder.replaceAll('/', '-'))
  const inputs = packageFolders().flatMap((each) => filesBelow(join(each, 'src')))
  const wanted = fingerprint([config, 'pnpm-lock.yaml', ...inputs])
  const found = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (found === wanted && existsSync(join(folder, 'dist/public'))) return
  await capture(process.execPath, [viteOf(folder), 'build'], { cwd: folder })
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, wanted)
}

function viteOf(folder) {
  const vite = join(folder, 'node_modules/vite/bin/vite.js')
  if (!existsSync(vite)) throw new Error(`${folder} has a Vite configuration and no dependency "vite"`)
  return relative(folder, vite)
}
