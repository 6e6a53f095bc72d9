// Compiles packages and the tools of tests, then builds the front ends that have a Vite configuration. Tests are compiled before they run.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { capture, node } from '../command.mjs'
import { filesBelow, fingerprint, manifestOf, packageFolders, removeOrphans } from '../files.mjs'

/** Builds the packages of these folders and those that they stand on. */
export default async function build(wanted = []) {
  const folders = wanted.length > 0 ? withDependencies(wanted) : packageFolders()
  for (const folder of [...folders, 'test-support']) removeOrphans(join(folder, 'src'), join(folder, 'dist'))
  await node('node_modules/typescript/bin/tsc', ['--build', ...folders, 'test-support'])
  for (const { folder, list } of frontEnds(folders)) await buildPages(folder, list)
}

function withDependencies(folders) {
  const all = new Set(folders)
  for (const folder of all) {
    const { dependencies, devDependencies } = manifestOf(folder)
    const names = new Set(Object.keys({ ...dependencies, ...devDependencies }))
    for (const each of packageFolders()) if (names.has(manifestOf(each).name)) all.add(each)
  }
  return packageFolders().filter((folder) => all.has(folder))
}

/** The folders with pages, and where Vite writes down what it has read. Applications, which are private, take in what packages give out. */
export function frontEnds(folders) {
  const isPrivate = (folder) => manifestOf(folder).private === true
  return folders
    .filter((folder) => configOf(folder) !== undefined)
    .toSorted((a, b) => isPrivate(a) - isPrivate(b))
    .map((folder) => ({ folder, list: resolve('node_modules/.cache/pages', folder.replaceAll('/', '-')) }))
}

const configOf = (folder) =>
  ['vite.config.ts', 'vite.config.mjs'].map((name) => join(folder, name)).find(existsSync)

/** Vite takes seconds: what it read the last time is not built again as long as it stays the same. */
async function buildPages(folder, list) {
  const stamp = `${list}.stamp`
  const found = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (found === stateOf(folder, list) && existsSync(join(folder, 'dist/public'))) return
  mkdirSync(join(list, '..'), { recursive: true })
  await capture(process.execPath, [resolve('scripts/pages.mjs'), list], { cwd: folder })
  writeFileSync(stamp, stateOf(folder, list))
}

/** The modules that were read, texts and style sheets, which may be read by no module, and which files there are. */
function stateOf(folder, list) {
  if (!existsSync(list)) return undefined
  const own = filesBelow(join(folder, 'src'))
  const read = readFileSync(list, 'utf8').split('\n').filter(existsSync)
  const texts = own.filter((path) => /\.(?:json|css)$/.test(path))
  return `${fingerprint([configOf(folder), 'pnpm-lock.yaml', 'scripts/pages.mjs', ...texts, ...read])}\n${own.join('\n')}`
}
