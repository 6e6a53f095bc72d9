/** Props as handlers write them, and their way to plain values. */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'

/** Props of a page. A function is called once, and only when the request includes its prop. */
export type Props = Readonly<Record<string, unknown>>

const alwaysMark = Symbol('always')

interface AlwaysProp {
  readonly [alwaysMark]: true
  readonly prop: unknown
}

/** Marks a prop that partial reloads receive even when they do not name it: `always(() => unreadCount())`. */
export function always(prop: unknown): AlwaysProp {
  return { [alwaysMark]: true, prop }
}

/** The values to send. Functions run side by side; the first that fails fails the page. */
export async function resolveProps(props: Props, partial: PartialReload | null): Promise<Props> {
  const requested = Object.entries(props).filter(
    ([key, prop]) => partial === null || isAlways(prop) || isRequested(key, partial),
  )
  const resolved = requested.map(async ([key, prop]) => {
    const value = await evaluate(prop)
    return [key, partial === null || isAlways(prop) ? value : narrow(key, value, partial)] as const
  })
  return Object.fromEntries(await Promise.all(resolved))
}

/** The value of a prop, whichever way it was written. */
async function evaluate(prop: unknown): Promise<unknown> {
  const bare = isAlways(prop) ? prop.prop : prop
  return typeof bare === 'function' ? await bare() : bare
}

function isAlways(prop: unknown): prop is AlwaysProp {
  return typeof prop === 'object' && prop !== null && alwaysMark in prop
}

/** Dot paths as a tree; a node without children means everything below. */
type PathTree = ReadonlyMap<string, PathTree>

/** What a partial reload requests: the members of `only` (null: all), without those of `except`. */
export interface PartialReload {
  readonly only: PathTree | null
  readonly except: PathTree
}

/** The partial reload that the headers request of this component, or null for the whole page. */
export function readPartialReload(headers: IncomingHttpHeaders, component: string): PartialReload | null {
  if (headers['x-inertia-partial-component'] !== component) return null
  const only = parsePaths(headers['x-inertia-partial-data'])
  const except = parsePaths(headers['x-inertia-partial-except'])
  if (only.size === 0 && except.size === 0) return null
  return { only: only.size === 0 ? null : only, except }
}

/** Whether a prop is part of the reload; only then is a function called for it. */
function isRequested(key: string, { only, except }: PartialReload): boolean {
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
    if (known?.size === 0) return // everything below is requested already
    const next: Tree = known ?? new Map()
    if (index === segments.length - 1) next.clear()
    node.set(segment, next)
    node = next
  }
}

/** Props for every page, or a function of the request that gives them: `(request) => ({ user: request.caller?.name })`. */
export type SharedProps = Props | ((request: FastifyRequest) => Props | Promise<Props>)

/** The page's own props over the shared ones. `errors` is always present: the client reads it on every page. */
export async function withSharedProps(
  request: FastifyRequest,
  shared: SharedProps | undefined,
  own: Props,
): Promise<Props> {
  const base = typeof shared === 'function' ? await shared(request) : shared
  const props: Props = { ...base, ...own }
  return { ...props, errors: always(async () => inErrorBag(request, (await evaluate(props.errors)) ?? {})) }
}

/** Two forms on one page keep their errors apart by the name that the client gives. */
function inErrorBag(request: FastifyRequest, errors: object): object {
  const bag = request.headers['x-inertia-error-bag']
  return typeof bag !== 'string' || Object.keys(errors).length === 0 ? errors : { [bag]: errors }
}
