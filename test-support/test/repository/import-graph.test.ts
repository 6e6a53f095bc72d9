/** What imports what. Which package may import which other one is in .oxlintrc.json. */
import { posix } from 'node:path'
import { test } from 'tap'
import { sourceFiles, textOf } from './sources.js'

/** Returns the module names that a file imports, exports from, loads lazily or augments. */
function importsOf(text: string): string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
  const pattern = /\b(?:from|import|declare module)\s*\(?\s*(['"])([^'"\n]+)\1/g
  return [...code.matchAll(pattern)].map((match) => match[2] ?? '')
}

/**
 * Returns the circles of imports between files and folders that stand side by side, at every level of a tree of sources:
 * `packages/core/src/events: bus.ts ⇄ transport.ts`.
 * @param files texts by path
 */
function importCircles(files: ReadonlyMap<string, string>): string[] {
  const levels = new Map<string, Map<string, Set<string>>>()
  for (const [path, text] of files) {
    for (const specifier of importsOf(text)) {
      if (!specifier.startsWith('.')) continue
      const target = posix.join(posix.dirname(path), specifier)
      if (files.has(target)) addArrow(levels, path, target)
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

test('imports form no circle between files or folders, at any level of any package', (t) => {
  const paths = sourceFiles().filter((path) => /^packages\/[^/]+\/src\//.test(path))
  t.same(importCircles(new Map(paths.map((path) => [path, textOf(path)]))), [])
  t.end()
})

test('a circle is found where its members stand side by side', (t) => {
  const files = new Map([
    ['a/src/one/x.ts', "import '../two/deep/y.ts'"],
    ['a/src/two/deep/y.ts', "import type { z } from '../../three.ts'; import '../z.ts'"],
    ['a/src/two/z.ts', "import './deep/w.ts'"],
    ['a/src/two/deep/w.ts', ''],
    ['a/src/three.ts', "import './one/x.ts'; import './four.ts'"],
    ['a/src/four.ts', ''],
  ])
  t.same(importCircles(files), ['a/src: one ⇄ three.ts ⇄ two', 'a/src/two: deep ⇄ z.ts'])
  t.end()
})

test('every way to name a module is seen, and comments are not', (t) => {
  const text = `
    import './a.ts'
    import { b } from "./b.ts"
    import type { c } from './c.ts'
    export * from './d.ts'
    const e = await import('./e.ts')
    declare module '@fastify-modular/f' {}
    // import './no.ts'
    /* from './no.ts' */
    const url = 'https://host/' // from './no.ts'
  `
  t.same(importsOf(text), ['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', '@fastify-modular/f'])
  t.end()
})
