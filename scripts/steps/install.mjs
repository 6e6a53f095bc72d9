// Installs the dependencies from the lockfile; does nothing when they are already those.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pnpm } from '../command.mjs'
import { fingerprint, packageFolders } from '../files.mjs'

const stamp = 'node_modules/.installed'
const sqlite = 'scripts/better-sqlite3'

export default async function install() {
  const wanted = `${process.platform}-${process.arch}-${process.versions.modules} ${fingerprint(inputs())}`
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  const installWith = (...flags) =>
    pnpm(['install', '--frozen-lockfile', ...flags], { env: { ...process.env, ...headersOfThisNode() } })
  await installWith()
  // Left out for another Node, or because it did not build: that is decided anew only by force.
  if (!opensSqlite()) await installWith('--force')
  if (!opensSqlite()) throw new Error(`better-sqlite3 cannot be loaded.${missingTools()}`)
  writeFileSync(stamp, wanted)
}

function inputs() {
  const others = ['.', 'bench', 'examples', 'test-support', sqlite, 'scripts/tap']
  const manifests = [...others, ...packageFolders()].map((folder) => join(folder, 'package.json'))
  return ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', ...manifests]
}

/**
 * node-gyp would download headers; the Node that runs this usually ships its own.
 * npm warns that it does not know this setting; node-gyp does, and pnpm passes no other spelling on.
 */
function headersOfThisNode() {
  const prefix = dirname(dirname(process.execPath))
  const hasHeaders = existsSync(join(prefix, 'include/node/node.h'))
  return hasHeaders && !process.env.npm_config_nodedir ? { npm_config_nodedir: prefix } : {}
}

/** pnpm leaves an optional dependency that does not build out silently. */
function opensSqlite() {
  const open = `new (require('./${sqlite}'))(':memory:').close()`
  return spawnSync(process.execPath, ['-e', open], { stdio: 'ignore' }).status === 0
}

/** better-sqlite3 12 compiles itself where no prebuilt binary can be downloaded. */
function missingTools() {
  if (process.platform === 'win32') return ''
  const isThere = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0
  const missing = ['make', 'python3'].filter((program) => !isThere(program))
  if (!['c++', 'g++', 'clang++'].some(isThere)) missing.unshift('a C++ compiler')
  if (missing.length === 0) return ''
  return ` It has to be compiled for Node 20, and this machine lacks ${missing.join(', ')}. Debian: apt-get install g++ make python3`
}
