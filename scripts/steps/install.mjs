// Installs the dependencies from the lockfile; does nothing when they are already those.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pnpm } from '../command.mjs'
import { fingerprint, packageFolders } from '../files.mjs'

const stamp = 'node_modules/.installed'

export default async function install() {
  const wanted = `${process.platform}-${process.arch}-${process.versions.modules} ${fingerprint(inputs())}`
  const found = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
  if (found === wanted) return
  const env = { ...process.env, ...headersOfThisNode() }
  try {
    await pnpm(['install', '--frozen-lockfile'], { env })
    const isOtherNode = found !== '' && found.split(' ')[0] !== wanted.split(' ')[0]
    if (isOtherNode) await pnpm(['rebuild', '--recursive', 'better-sqlite3'], { env })
  } catch (error) {
    throw new Error(`${error.message}${missingTools()}`, { cause: error })
  }
  writeFileSync(stamp, wanted)
}

function inputs() {
  const manifests = ['.', 'bench', 'test-support', ...packageFolders()].map((folder) =>
    join(folder, 'package.json'),
  )
  return ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests]
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

/** better-sqlite3 12 compiles itself where no prebuilt binary can be downloaded. */
function missingTools() {
  if (process.platform === 'win32') return ''
  const isThere = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0
  const missing = ['make', 'python3'].filter((program) => !isThere(program))
  if (!['c++', 'g++', 'clang++'].some(isThere)) missing.unshift('a C++ compiler')
  if (missing.length === 0) return ''
  return `\nbetter-sqlite3 has to be compiled here, and this machine lacks ${missing.join(', ')}. Debian: apt-get install g++ make python3`
}
