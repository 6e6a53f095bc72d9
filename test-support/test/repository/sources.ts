/** The files of this repository as text. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder that holds pnpm-workspace.yaml. */
export const root = findRoot(dirname(fileURLToPath(import.meta.url)))

/** Paths of all files that are tracked or about to be, relative to the root, with forward slashes. */
export function repositoryFiles(): string[] {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  return [...new Set(list.split('\0'))]
    .filter((path) => path !== '' && existsSync(join(root, path)))
    .toSorted()
}

/** Hand-written TypeScript and JavaScript of packages, tests, scripts and benchmarks. */
export function sourceFiles(): string[] {
  return repositoryFiles().filter((path) => /\.(?:tsx?|mjs|cjs)$/.test(path) && !path.endsWith('.d.ts'))
}

/** The text of a file. */
export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'pnpm-workspace.yaml'))) return folder
  if (dirname(folder) === folder) throw new Error('No folder above this test holds pnpm-workspace.yaml')
  return findRoot(dirname(folder))
}
