// Installs the frameworks that are measured beside ours, in this folder alone.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const lock = new URL('package-lock.json', import.meta.url)
/** What npm says it has installed. */
const installed = new URL('node_modules/.package-lock.json', import.meta.url)

/** `legacy-peer-deps` in a user's configuration would leave out what NestJS wants beside itself. */
const options =
  '--ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 --legacy-peer-deps=false'

/** Does nothing when they are installed already. Throws with what to do when they are not after three minutes. */
export function installPeers() {
  if (isInstalled()) return
  console.log('Installing the frameworks to compare with, in bench/peers …')
  const { error, status } = spawnSync('npm', ['ci', ...options.split(' ')], {
    cwd: here,
    stdio: 'inherit',
    timeout: 180_000,
    shell: process.platform === 'win32',
  })
  if (error || status !== 0) throw new Error(explain(error?.message ?? `npm ended with code ${status}`))
}

function isInstalled() {
  if (!existsSync(installed)) return false
  const found = packagesOf(installed)
  return Object.entries(packagesOf(lock)).every(
    ([path, { version }]) => path === '' || found[path]?.version === version,
  )
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

function explain(reason) {
  return (
    `The frameworks to compare with are not installed: ${reason}. Without a network, run "npm ci --ignore-scripts" ` +
    'in bench/peers where there is one, and copy its node_modules here.'
  )
}
