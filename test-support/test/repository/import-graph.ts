/** What imports what. Which package may import which other one is in .oxlintrc.json. */
import { posix } from 'node:path'

/** Returns the module names that a file imports, exports from, loads lazily or augments. */
export function importsOf(text: string): string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
  const pattern = /\b(?:from|import|declare module)\s*\(?\s*(['"])([^'"\n]+)\1/g
  return [...code.matchAll(pattern)].map((match) => match[2] ?? '')
}

/**
 * Returns the circles of imports between files and folders that stand side by side, at every level of a tree of sources:
 * `packages/core/src/events: bus.ts ⇄ transport.ts`.
 * @param files texts by path
 */
export function importCircles(files: ReadonlyMap<string, string>): string[] {
  const levels = new Map<string, Map<string, Set<string>>>()
  for (const [path, text] of files) {
    for (const specifier of importsOf(text)) {
      const target = resolveWithin(path, specifier)
      if (target !== undefined && files.has(target)) addArrow(levels, path, target)
    }
  }
  return [...levels].flatMap(([folder, arrows]) =>
    circlesOf(arrows).map((names) => `${folder}: ${names.join(' ⇄ ')}`),
  )
}

/** Where the two paths part, the arrow leads from one name to the other. */
function addArrow(levels: Map<string, Map<string, Set<string>>>, path: string, target: string): void {
  const [from, to] = [path.split('/'), target.split('/')]
  const depth = from.findIndex((name, index) => name !== to[index])
  const [source = '', sink = ''] = [from[depth], to[depth]]
  const folder = from.slice(0, depth).join('/')
  const arrows = levels.get(folder) ?? new Map<string, Set<string>>()
  levels.set(folder, arrows)
  arrows.set(source, (arrows.get(source) ?? new Set()).add(sink))
}

/** The groups of names each of which leads to all others of its group. */
function circlesOf(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const reached = new Map([...arrows.keys()].map((name) => [name, namesFrom(name, arrows)]))
  const groups = [...reached].map(([name, names]) =>
    [...names].filter((other) => reached.get(other)?.has(name) === true).toSorted(),
  )
  return [
    ...new Map(groups.filter(({ length }) => length > 1).map((names) => [names.join(), names])).values(),
  ]
}

function namesFrom(start: string, arrows: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (name: string): void => {
    for (const next of arrows.get(name) ?? []) {
      if (found.has(next)) continue
      found.add(next)
      visit(next)
    }
  }
  visit(start)
  return found
}

/** Returns the path that a relative import leads to; undefined for packages. */
export function resolveWithin(path: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined
}
