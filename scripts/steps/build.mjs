// Compiles packages and the tools of tests, then builds the front ends that have a Vite configuration. Tests are compiled before they run.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { capture, node } from '../command.mjs'
import { filesBelow, fingerprint, manifestOf, packageFolders, removeOrphans } from '../files.mjs'
import { bundleTap } from '../tap/bundle.mjs'

/** Builds the packages of these folders and those that they stand on. */
export default async function build(wanted = []) {
  const folders = wanted.length > 0 ? withDependencies(wanted) : packageFolders()
  for (const folder of [...folders, 'test-support']) removeOrphans(join(folder, 'src'), join(folder, 'dist'))
  await node('node_modules/typescript/bin/tsc', ['--build', ...folders, 'test-support'])
  await bundleTap()
  await buildPages(folders)
}

/** Builds the front ends of these folders that are not up to date. Applications, which are private, take in what packages give out. */
export async function buildPages(folders) {
  const isPrivate = (folder) => manifestOf(folder).private === true
  const withPages = folders.filter((folder) => configOf(folder) !== undefined)
  for (const folder of withPages.toSorted((a, b) => isPrivate(a) - isPrivate(b))) await buildPagesOf(folder)
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

const configOf = (folder) =>
  ['vite.config.ts', 'vite.config.mjs'].map((name) => join(folder, name)).find(existsSync)

/** Vite takes seconds: what it read the last time is not built again as long as it stays the same. */
async function buildPagesOf(folder) {
  const list = resolve('node_modules/.cache/pages', folder.replaceAll('/', '-'))
  const stamp = `${list}.stamp`
  const found = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (found === stateOf(folder, list) && existsSync(join(folder, 'dist/public'))) return
  mkdirSync(dirname(list), { recursive: true })
  const start = Date.now()
  await capture(process.execPath, [resolve('scripts/pages.mjs'), list], { cwd: folder })
  // What was changed meanwhile is built the next time.
  if (inputsOf(folder, list).every((path) => statSync(path).mtimeMs < start))
    writeFileSync(stamp, stateOf(folder, list))
}

/** The modules that were read, and texts and style sheets, which no module needs to name. */
function inputsOf(folder, list) {
  const read = readFileSync(list, 'utf8').split('\n').filter(existsSync)
  const others = filesBelow(join(folder, 'src')).filter((path) => /\.(?:json|css)$/.test(path))
  return [configOf(folder), 'pnpm-lock.yaml', 'scripts/pages.mjs', ...others, ...read]
}

function stateOf(folder, list) {
  if (!existsSync(list)) return undefined
  const names = filesBelow(join(folder, 'src')).join('\n') // a new one may take the place of another
  return `${process.env.PAGES ?? 'whole'} ${fingerprint(inputsOf(folder, list))}\n${names}`
}
