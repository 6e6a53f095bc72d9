/** The table of docs/concepts/architecture.md: the files and folders of each package, imports leading from left to right. */
import { test } from 'tap'
import { importsOf, resolveWithin } from './import-graph.js'
import { sourceFiles, textOf } from './sources.js'

/** Floors from the left to the right, names of one floor together, by package. */
type FolderTable = ReadonlyMap<string, readonly (readonly string[])[]>

/** Returns the rows whose second cell names floors: `| core | \`modules\`, \`testing\` → \`events\` |`. */
function folderTable(page: string): FolderTable {
  const rows = page.matchAll(/^\| ([\w-]+) \| (`.*) \|$/gm)
  return new Map(
    [...rows].map(([, name = '', cell = '']) => [
      name,
      cell.split('→').map((floor) => [...floor.matchAll(/`([\w-]+)`/g)].map((match) => match[1] ?? '')),
    ]),
  )
}

/**
 * Returns what is not true in the table, one sentence each.
 * @param files texts by path: `packages/core/src/caller.ts`
 */
function folderTableProblems(table: FolderTable, files: ReadonlyMap<string, string>): string[] {
  const placeOf = (path: string): { readonly name: string; readonly floor: number } => {
    const [, owner = '', name = ''] = /^packages\/([^/]+)\/src\/([^/.]+)/.exec(path) ?? []
    return { name, floor: table.get(owner)?.findIndex((names) => names.includes(name)) ?? -1 }
  }
  const places = [...files.keys()].map((path) => `${path.split('/')[1]}: ${placeOf(path).name}`)
  const gone = [...table].flatMap(([owner, floors]) =>
    floors
      .flat()
      .map((name) => `${owner}: ${name}`)
      .filter((place) => !places.includes(place)),
  )
  const wrong = [...files].flatMap(([path, text]) => {
    const from = placeOf(path)
    return importsOf(text).flatMap((specifier) => {
      const target = resolveWithin(path, specifier)
      const to = placeOf(target ?? '')
      const isAcross = from.floor !== -1 && to.floor !== -1 && from.name !== to.name
      return isAcross && to.floor <= from.floor ? [`${path} imports ${target}, which is not right of it`] : []
    })
  })
  return [...gone.map((place) => `${place} does not exist`), ...wrong]
}

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
