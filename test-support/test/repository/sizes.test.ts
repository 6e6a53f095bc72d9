import { test } from 'tap'
import { crowdedFolders, indexProblem, lengthProblem } from './sizes.js'
import { sourceFiles, textOf } from './sources.js'

test('no source file is longer than 250 lines', (t) => {
  t.same(
    sourceFiles().flatMap((path) => lengthProblem(path, textOf(path)) ?? []),
    [],
  )
  t.match(lengthProblem('a.ts', 'x\n'.repeat(251)), /251 lines/)
  t.equal(lengthProblem('a.ts', 'x\n'.repeat(250)), undefined)
  t.end()
})

test('no folder of sources holds more than 12 files', (t) => {
  t.same(crowdedFolders(sourceFiles().filter((path) => path.includes('/src/'))), [])
  const many = Array.from({ length: 13 }, (_, index) => `packages/a/src/${index}.ts`)
  t.same(crowdedFolders(many), ['packages/a/src holds 13 files, more than 12'])
  t.same(crowdedFolders(many.slice(1)), [])
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
