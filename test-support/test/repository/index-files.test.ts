/** An index file has no work to do on import. */
import { test } from 'tap'
import { sourceFiles, textOf } from './sources.js'

/** Returns the first line of an index file that does more than export. */
function indexProblem(path: string, text: string): string | undefined {
  if (!/\/src\/(?:.+\/)?index\.ts$/.test(path)) return undefined
  const line = text
    .split('\n')
    .find((each) => /^(?:export )?(?:const|let|var|async|function|class|if|for|await)\b/.test(each))
  return line === undefined ? undefined : `${path} does more than export: ${line}`
}

test('index files only export', (t) => {
  t.same(
    sourceFiles().flatMap((path) => indexProblem(path, textOf(path)) ?? []),
    [],
  )
  const twoLines = "export { a } from './a.ts'\nexport const b = 1\n"
  t.match(indexProblem('packages/a/src/index.ts', twoLines), /const b/)
  t.match(indexProblem('packages/a/src/b/index.ts', 'await start()\n'), /await start/)
  t.equal(indexProblem('packages/a/src/b/other.ts', twoLines), undefined)
  t.end()
})
