import { test } from 'tap'
import { indexProblem, lengthProblem } from './sizes.js'
import { sourceFiles, textOf } from './sources.js'

test('no source file is longer than 400 lines', (t) => {
  t.same(
    sourceFiles().flatMap((path) => lengthProblem(path, textOf(path)) ?? []),
    [],
  )
  t.match(lengthProblem('a.ts', 'x\n'.repeat(401)), /401 lines/)
  t.equal(lengthProblem('a.ts', 'x\n'.repeat(400)), undefined)
  t.end()
})

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
