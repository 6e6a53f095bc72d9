// Runs other programs with the output of this one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'

/** Runs a program to its end and throws when it fails. Options are those of node:child_process. */
export async function run(program, args, options = {}) {
  const child = spawn(program, args, { stdio: 'inherit', shell: isWindowsScript(program), ...options })
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${signal ?? `code ${code}`}`)
}

/** Runs a program and returns what it printed; throws with its output when it fails. */
export async function capture(program, args, options = {}) {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: isWindowsScript(program),
    ...options,
  })
  const output = { stdout: '', all: '' }
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk
    output.all += chunk
  })
  child.stderr.on('data', (chunk) => (output.all += chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${[program, ...args].join(' ')} ended with code ${code}\n${output.all}`)
  return output.stdout
}

/** Runs `npm install`, silently; again after ten seconds, since a registry may break off. */
export async function npmInstall(args, options) {
  const install = () => capture('npm', ['install', ...args], options)
  await install().catch(() => setTimeout(10_000).then(install))
}

/** Runs the version of pnpm that package.json pins, fetched by npx: a newcomer has npm only. */
export function pnpm(args, options) {
  return run('npx', ['--yes', pinnedPnpm(), ...args], options)
}

/** Packs packages into a folder, with one start of pnpm, which takes a second. Returns the tarballs by the names of the packages. */
export async function packAll(folders, destination) {
  if (folders.length === 0) return new Map()
  const filters = folders.flatMap((folder) => ['--filter', `./${folder}`])
  const args = ['pack', '--json', '--pack-destination', resolve(destination)]
  const packed = JSON.parse(await capture('npx', ['--yes', pinnedPnpm(), ...filters, ...args]))
  return new Map([packed].flat().map(({ name, filename }) => [name, filename]))
}

/** Runs a program of this repository's node_modules under this very Node. */
export function node(file, args = [], options) {
  return run(process.execPath, [file, ...args], options)
}

function pinnedPnpm() {
  return JSON.parse(readFileSync('package.json', 'utf8')).packageManager
}

const isWindowsScript = (program) => process.platform === 'win32' && ['npx', 'npm'].includes(program)
