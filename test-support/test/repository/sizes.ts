/** House style that a machine can see. */

/** Lines of a source file. Most are far shorter; a longer one holds two ideas. */
const longest = 400

/** Returns a sentence when a file is too long to be one idea. */
export function lengthProblem(path: string, text: string): string | undefined {
  const lines = text.split('\n').length - 1
  return lines > longest ? `${path} has ${lines} lines, more than ${longest}` : undefined
}

/** Returns the first line of an index file that does more than export: no work on import. */
export function indexProblem(path: string, text: string): string | undefined {
  if (!/\/src\/(?:.+\/)?index\.ts$/.test(path)) return undefined
  const line = text
    .split('\n')
    .find((each) => /^(?:export )?(?:const|let|var|async|function|class|if|for|await)\b/.test(each))
  return line === undefined ? undefined : `${path} does more than export: ${line}`
}
