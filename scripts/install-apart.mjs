// Installs a folder that is not part of the workspace: `npm start` and `npm test` do without it.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** `legacy-peer-deps` in a user's configuration would leave out what some packages want beside themselves. */
const options =
  '--ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 --legacy-peer-deps=false'

/**
 * Installs what the lockfile of a folder names, such as `bench/peers`; `what` stands for it in messages. Does nothing
 * when it is installed already. Throws with what to do when it is not after three minutes.
 */
export function installApart(folder, what) {
  if (isInstalled(folder)) return
  console.log(`Installing ${what}, in ${folder} …`)
  const { error, status } = spawnSync('npm', ['ci', ...options.split(' ')], {
    cwd: resolve(folder),
    stdio: 'inherit',
    timeout: 180_000,
    shell: process.platform === 'win32',
  })
  if (!error && status === 0) return
  throw new Error(
    `There is no ${what}: ${error?.message ?? `npm ended with code ${status}`}. Without a network, run ` +
      `"npm ci --ignore-scripts" in ${folder} where there is one, and copy its node_modules here.`,
  )
}

function isInstalled(folder) {
  const installed = join(folder, 'node_modules/.package-lock.json') // what npm says it has installed
  if (!existsSync(installed)) return false
  const found = packagesOf(installed)
  return Object.entries(packagesOf(join(folder, 'package-lock.json'))).every(
    ([path, { version, optional }]) => path === '' || optional || found[path]?.version === version,
  )
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}
