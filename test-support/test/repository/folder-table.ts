/** The table of docs/concepts/architecture.md: the files and folders of each package, imports leading from left to right. */
import { importsOf, resolveWithin } from './import-graph.js'

/** Floors from the left to the right, names of one floor together, by package. */
export type FolderTable = ReadonlyMap<string, readonly (readonly string[])[]>

/** Returns the rows whose second cell names floors: `| core | \`modules\`, \`testing\` → \`events\` |`. */
export function folderTable(page: string): FolderTable {
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
export function folderTableProblems(table: FolderTable, files: ReadonlyMap<string, string>): string[] {
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
