// Runs other programs with the output of this one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
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
  const { packageManager } = JSON.parse(readFileSync('package.json', 'utf8'))
  return run('npx', ['--yes', packageManager, ...args], options)
}

/** Runs a program of this repository's node_modules under this very Node. */
export function node(file, args = [], options) {
  return run(process.execPath, [file, ...args], options)
}

const isWindowsScript = (program) => process.platform === 'win32' && ['npx', 'npm'].includes(program)
