/** Reads the lists of files in docs/concepts/architecture.md and compares them with what a flow has entered. */

/** Returns the files that the numbered list under a heading names: `core/caller.ts`. */
export function listedFiles(page: string, heading: string): string[] {
  const [, section = ''] = page.split(`\n### ${heading}\n`)
  const [own = ''] = section.split(/\n##/)
  const items = own.match(/^(?:\d+\. | {3,}).*$/gm) ?? []
  return [...items.join('\n').matchAll(/`([\w-]+\/[\w./-]+\.tsx?)`/g)].map((match) => match[1] ?? '')
}

/** Returns what to change in a list, one sentence each. `optional` files may be listed or not. */
export function listProblems({
  listed,
  entered,
  optional,
}: {
  readonly listed: readonly string[]
  readonly entered: readonly string[]
  readonly optional: readonly string[]
}): string[] {
  const missing = entered.filter((file) => !listed.includes(file) && !optional.includes(file))
  const needless = listed.filter((file) => !entered.includes(file))
  const repeated = listed.filter((file, index) => listed.indexOf(file) < index)
  return [
    ...missing.map((file) => `add ${file}: the flow enters it`),
    ...needless.map((file) => `remove ${file}: the flow does not enter it`),
    ...repeated.map((file) => `name ${file} once only`),
  ]
}
