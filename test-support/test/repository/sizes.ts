/** House style in numbers. */
import { posix } from 'node:path'

const longest = 250
const fullest = 12

/** Returns a sentence when a file is too long to be one concept. */
export function lengthProblem(path: string, text: string): string | undefined {
  const lines = text.split('\n').length - 1
  return lines > longest ? `${path} has ${lines} lines, more than ${longest}` : undefined
}

/** Returns the source folders that hold more files than a reader takes in at once. */
export function crowdedFolders(paths: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count > fullest)
    .map(([folder, count]) => `${folder} holds ${count} files, more than ${fullest}`)
}

/** Returns the first line of an index file that does more than export: no work on import. */
export function indexProblem(path: string, text: string): string | undefined {
  if (!/\/src\/(?:.+\/)?index\.ts$/.test(path)) return undefined
  const line = text
    .split('\n')
    .find((each) => /^(?:export )?(?:const|let|var|async|function|class|if|for|await)\b/.test(each))
  return line === undefined ? undefined : `${path} does more than export: ${line}`
}
