/** House style that a machine can see. */

/** Returns the first line of an index file that does more than export: no work on import. */
export function indexProblem(path: string, text: string): string | undefined {
  if (!/\/src\/(?:.+\/)?index\.ts$/.test(path)) return undefined
  const line = text
    .split('\n')
    .find((each) => /^(?:export )?(?:const|let|var|async|function|class|if|for|await)\b/.test(each))
  return line === undefined ? undefined : `${path} does more than export: ${line}`
}
