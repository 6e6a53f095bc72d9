import { test } from 'tap'
import { indexProblem } from './sizes.js'
import { sourceFiles, textOf } from './sources.js'

test('index files only export', (t) => {
  t.same(
    sourceFiles().flatMap((path) => indexProblem(path, textOf(path)) ?? []),
    [],
  )
  t.match(
    indexProblem('packages/a/src/index.ts', "export { a } from './a.ts'\nexport const b = 1\n"),
    /const b/,
  )
  t.match(indexProblem('packages/a/src/b/index.ts', 'await start()\n'), /await start/)
  t.equal(indexProblem('packages/a/src/b/other.ts', 'export const b = 1\n'), undefined)
  t.end()
})
