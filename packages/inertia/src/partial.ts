/** Partial reloads: the client asks again for some props of the page it shows. Pure. */
import type { IncomingHttpHeaders } from 'node:http'

/** Dot paths as a tree; a node without children means everything below. */
type PathTree = ReadonlyMap<string, PathTree>

/** What a partial reload asks for: the members of `only` (null: all), without those of `except`. */
export interface PartialReload {
  readonly only: PathTree | null
  readonly except: PathTree
}

/** The partial reload that the headers ask of this component, or null when the whole page is wanted. */
export function readPartialReload(headers: IncomingHttpHeaders, component: string): PartialReload | null {
  if (headers['x-inertia-partial-component'] !== component) return null
  const only = parsePaths(headers['x-inertia-partial-data'])
  const except = parsePaths(headers['x-inertia-partial-except'])
  if (only.size === 0 && except.size === 0) return null
  return { only: only.size === 0 ? null : only, except }
}

/** Whether a prop is part of the reload; only then is a function called for it. */
export function isRequested(key: string, { only, except }: PartialReload): boolean {
  if (only !== null && !only.has(key)) return false
  return except.get(key)?.size !== 0
}

/** The value with the requested members only: `only` first, then `except`. */
export function narrow(key: string, value: unknown, { only, except }: PartialReload): unknown {
  return omit(pick(value, only?.get(key)), except.get(key))
}

function pick(value: unknown, tree: PathTree | undefined): unknown {
  if (tree === undefined || tree.size === 0 || !isPlainObject(value)) return value
  const picked = [...tree].filter(([key]) => Object.hasOwn(value, key))
  return Object.fromEntries(picked.map(([key, below]) => [key, pick(value[key], below)]))
}

function omit(value: unknown, tree: PathTree | undefined): unknown {
  if (tree === undefined || !isPlainObject(value)) return value
  const kept = Object.entries(value).filter(([key]) => tree.get(key)?.size !== 0)
  return Object.fromEntries(kept.map(([key, member]) => [key, omit(member, tree.get(key))]))
}

/** Arrays are taken whole: the client merges objects, but would replace a list by the object of its parts. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function parsePaths(header: string | string[] | undefined): PathTree {
  const root: Tree = new Map()
  for (const path of String(header ?? '').split(',')) {
    if (path.trim() !== '') addPath(root, path.trim().split('.'))
  }
  return root
}

interface Tree extends Map<string, Tree> {}

function addPath(root: Tree, segments: readonly string[]): void {
  let node = root
  for (const [index, segment] of segments.entries()) {
    const known = node.get(segment)
    if (known?.size === 0) return // everything below is asked for already
    const next: Tree = known ?? new Map()
    if (index === segments.length - 1) next.clear()
    node.set(segment, next)
    node = next
  }
}
