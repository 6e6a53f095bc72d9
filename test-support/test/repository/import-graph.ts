/** The arrows of the architecture: which package and which folder may import which. */
import { posix } from 'node:path'

/** What the sources of each package may import of ours. Siblings never import siblings. */
const packageArrows: Readonly<Record<string, readonly string[]>> = {
  core: [],
  'create-fastify-modular': [],
  cli: ['core', 'public-routes', 'settings'],
  inertia: ['core'],
  'public-routes': ['core'],
  errors: ['core'],
  settings: ['core'],
  'settings-ui': ['core', 'settings'],
  'host-example': ['core', 'inertia', 'public-routes', 'errors', 'settings', 'settings-ui'],
}

/** Returns the module names that a file imports, exports from, loads lazily or augments. */
export function importsOf(text: string): string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
  const pattern = /\b(?:from|import|declare module)\s*\(?\s*(['"])([^'"\n]+)\1/g
  return [...code.matchAll(pattern)].map((match) => match[2] ?? '')
}

/** Returns what is wrong with the imports of one file, one sentence each. */
export function importProblems(path: string, text: string): string[] {
  const [, name, area] = /^packages\/([^/]+)\/(src|test)\//.exec(path) ?? []
  if (name === undefined) return []
  if (area === 'src' && name === 'settings-ui' && bringsServerAlong(text)) {
    return [`${path}: of settings, pages may import types and settings/client only`]
  }
  return importsOf(text).flatMap((specifier) => {
    const problems = [
      area === 'src' ? packageProblem(name, specifier) : undefined,
      area === 'src' ? testProblem(name, path, specifier) : undefined,
      area === 'src' && name === 'settings' ? sqlProblem(path, specifier) : undefined,
    ]
    return problems.filter((problem) => problem !== undefined).map((problem) => `${path}: ${problem}`)
  })
}

function packageProblem(name: string, specifier: string): string | undefined {
  const [, target] = /^@fastify-modular\/([^/]+)/.exec(specifier) ?? []
  if (target === undefined || target === name || target === 'test-support') return undefined
  return packageArrows[name]?.includes(target) ? undefined : `${name} may not import ${target}`
}

function testProblem(name: string, path: string, specifier: string): string | undefined {
  const isTestTool = /^(?:tap|fast-check|@fastify-modular\/test-support)(?:\/|$)/.test(specifier)
  const target = resolveWithin(path, specifier)
  const isHelper =
    /^@fastify-modular\/[^/]+\/testing$/.test(specifier) || /\/src\/testing\//.test(target ?? '')
  if (isHelper && !path.startsWith(`packages/${name}/src/testing/`)) {
    return `sources may not import helpers for tests: ${specifier}`
  }
  const leavesSources = target !== undefined && !target.startsWith(`packages/${name}/src/`)
  return isTestTool || leavesSources
    ? `sources may not import tests or anything outside src: ${specifier}`
    : undefined
}

/** Pages run in browsers: at run time they know the HTTP API, through the client, and nothing else of settings. */
function bringsServerAlong(text: string): boolean {
  return /^(?:import|export) (?!type\b)[^'"]*from '@fastify-modular\/settings(?!\/client)/m.test(text)
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

/** House style: SQL lives in stores. */
function sqlProblem(path: string, specifier: string): string | undefined {
  const isSql = /^(?:drizzle-orm|pg|better-sqlite3)(?:\/|$)/.test(specifier)
  return isSql && !path.includes('/src/store/') ? `only store/ may import ${specifier}` : undefined
}

/** Returns the path that a relative import leads to; undefined for packages. */
export function resolveWithin(path: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : undefined
}
