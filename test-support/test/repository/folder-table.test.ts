import { test } from 'tap'
import { folderTable, folderTableProblems } from './folder-table.js'
import { sourceFiles, textOf } from './sources.js'

const page = 'docs/concepts/architecture.md'

test('the table of folders in the page about the architecture is true', (t) => {
  const paths = sourceFiles().filter((path) => /^packages\/[^/]+\/src\//.test(path))
  const table = folderTable(textOf(page))
  t.same(new Set(table.keys()), new Set(paths.map((path) => path.split('/')[1])), 'it has every package')
  t.same(folderTableProblems(table, new Map(paths.map((path) => [path, textOf(path)]))), [], page)
  t.end()
})

test('a name that is gone, and an import to the left or to a neighbour, are found', (t) => {
  const table = folderTable(
    '| package | x |\n|---|---|\n| core | `plugin`, `tool` (server) → `parts` → `gone`, `ground` |\n',
  )
  t.same([...table], [['core', [['plugin', 'tool'], ['parts'], ['gone', 'ground']]]])
  const files = new Map([
    ['packages/core/src/plugin.ts', "import './parts/a.ts'; import './ground.ts'; import './unnamed.ts'"],
    ['packages/core/src/tool.tsx', "import './plugin.ts'"],
    ['packages/core/src/parts/a.ts', "import './b.ts'"],
    ['packages/core/src/parts/b.ts', "import '../plugin.ts'; import 'fastify'"],
    ['packages/core/src/ground.ts', ''],
  ])
  t.same(folderTableProblems(table, files), [
    'core: gone does not exist',
    'packages/core/src/tool.tsx imports packages/core/src/plugin.ts, which is not right of it',
    'packages/core/src/parts/b.ts imports packages/core/src/plugin.ts, which is not right of it',
  ])
  t.end()
})
