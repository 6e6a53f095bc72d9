/** From props as handlers write them to plain values, and what the client must know of them. */
import type { IncomingHttpHeaders } from 'node:http'
import { isPlainObject } from '@fastify-modular/core/internal'
import { errorCodes } from './misuse-errors.ts'
import { Prop, type ScrollPosition } from './prop.ts'

/** Props of a page, at any depth of plain objects: values, functions, and kinds such as `defer`. Lists are taken whole. */
export type Props = Readonly<Record<string, unknown>>

/** Members of the page object that say how the client treats props. Paths are those of nested props: `auth.notifications`. */
export interface PropLabels {
  /** By group. */
  deferredProps?: Record<string, string[]>
  rescuedProps?: string[]
  mergeProps?: string[]
  prependProps?: string[]
  deepMergeProps?: string[]
  matchPropsOn?: string[]
  /** By the key under which the client keeps the value; `expiresAt` in milliseconds since 1970. */
  onceProps?: Record<string, { readonly prop: string; readonly expiresAt: number | null }>
  scrollProps?: Record<string, ScrollPosition & { readonly reset: boolean }>
}

/** What the headers of a visit say about props. */
export interface Selection {
  /** The partial reload of this component; null where the whole page is wanted. */
  readonly partial: PartialReload | null
  /** Props whose items are replaced although they are merged otherwise. */
  readonly reset: ReadonlySet<string>
  /** Keys of the once props that the client holds. */
  readonly held: ReadonlySet<string>
  /** At which end the client wants the portion of an endless list. */
  readonly intent: 'append' | 'prepend'
}

/** What is selected: the props of `only`, or all where it names none, without those of `except`. */
interface PartialReload {
  readonly only: Paths
  readonly except: Paths
}

interface Paths {
  readonly named: ReadonlySet<string>
  /** The paths that lead to those that are named: `user` for `user.name`. */
  readonly above: ReadonlySet<string>
}

/** Reads the headers by which the client selects props of this component. */
export function readSelection(headers: IncomingHttpHeaders, component: string): Selection {
  const isVisit = headers['x-inertia'] !== undefined
  const only = readPaths(headers['x-inertia-partial-data'])
  const except = readPaths(headers['x-inertia-partial-except'])
  const isPartial =
    headers['x-inertia-partial-component'] === component && only.named.size + except.named.size > 0
  return {
    partial: isPartial ? { only, except } : null,
    reset: new Set(listOf(headers['x-inertia-reset'])),
    held: new Set(isVisit ? listOf(headers['x-inertia-except-once-props']) : []),
    intent: headers['x-inertia-infinite-scroll-merge-intent'] === 'prepend' ? 'prepend' : 'append',
  }
}

function readPaths(header: string | string[] | undefined): Paths {
  const named = listOf(header)
  const above = named.flatMap((path) => {
    const segments = path.split('.').slice(0, maxDepth)
    return segments.map((_, at) => segments.slice(0, at).join('.'))
  })
  return { named: new Set(named), above: new Set(above) }
}

/** What a header lists. */
export function listOf(header: string | string[] | undefined): string[] {
  return String(header ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** The values to send, with what the client must know of them. */
export interface ResolvedProps extends PropLabels {
  readonly props: Props
}

/**
 * Resolves the props that a visit wants. Functions run side by side; the first that fails fails the page, unless its prop
 * is rescued: then `onRescue` gets the failure.
 */
export async function resolveProps(
  props: Props,
  selection: Selection,
  onRescue: (failure: unknown, path: string) => void = () => {},
): Promise<ResolvedProps> {
  const resolution = new Resolution(selection, onRescue)
  const { partial } = selection
  const extent =
    partial === null ? 'whole' : partial.only.named.size === 0 ? 'unless excluded' : 'named parts'
  return { props: await resolution.members(props, '', extent), ...resolution.labels }
}

/** Deeper objects are sent as they are: one that contains itself would have no end, and JSON says so. */
const maxDepth = 50

/** How much of an object a visit wants. */
type Extent = 'whole' | 'unless excluded' | 'named parts'

/** How much it wants of the prop at this path, in an object of which it wants so much; null for nothing. */
function extentOf(path: string, around: Extent, partial: PartialReload | null): Extent | null {
  if (around === 'whole' || partial === null) return 'whole'
  const { only, except } = partial
  if (except.named.has(path)) return null
  if (around === 'unless excluded' || only.named.has(path))
    return except.above.has(path) ? 'unless excluded' : 'whole'
  return only.above.has(path) ? 'named parts' : null
}

/** A prop that is not part of the answer. */
const absent = Symbol('absent')

class Resolution {
  readonly #selection: Selection
  readonly #onRescue: (failure: unknown, path: string) => void
  /** Those that have content. */
  readonly labels: PropLabels = {}

  constructor(selection: Selection, onRescue: (failure: unknown, path: string) => void) {
    this.#selection = selection
    this.#onRescue = onRescue
  }

  async members(object: Props, base: string, extent: Extent): Promise<Props> {
    const resolved = Object.entries(object).map(async ([key, input]) => {
      const path = base === '' ? key : `${base}.${key}`
      return [key, await this.#member(toProp(input), path, extent)] as const
    })
    return Object.fromEntries((await Promise.all(resolved)).filter(([, value]) => value !== absent))
  }

  /** @param around how much the visit wants of the object that has the prop */
  async #member(prop: Prop, path: string, around: Extent): Promise<unknown> {
    const { traits } = prop
    const wanted = traits.always ? 'whole' : extentOf(path, around, this.#selection.partial)
    // In an object of which the client wants parts, which it merges at every level; others it replaces.
    const holdsAlways = wanted === null && path.includes('.') && someWithin(prop.value, isAlways)
    const extent = holdsAlways ? 'named parts' : wanted
    if (extent === null || this.#isLeftOut(prop, path)) return absent
    try {
      const value = await evaluate(prop)
      this.#label(prop, path, value)
      return await this.#within(value, path, extent)
    } catch (failure) {
      if (!traits.defer?.rescue) throw failure
      ;(this.labels.rescuedProps ??= []).push(path)
      this.#onRescue(failure, path)
      return absent
    }
  }

  /** Whether the client does not get this prop now, although nothing excludes it: it holds it, or fetches it later. */
  #isLeftOut({ traits: { once, defer, optional } }: Prop, path: string): boolean {
    const { partial, held } = this.#selection
    if (once) {
      const { key = path, expiresIn, fresh } = once
      const expiresAt = expiresIn === undefined ? null : Date.now() + expiresIn
      ;(this.labels.onceProps ??= {})[key] = { prop: path, expiresAt }
      if (held.has(key) && !fresh && (partial === null || partial.only.named.size === 0)) return true
    }
    if (partial !== null) return false
    if (defer) ((this.labels.deferredProps ??= {})[defer.group] ??= []).push(path)
    return defer !== undefined || optional === true
  }

  /** Says how the value joins what the client has. A reset prop replaces it. */
  #label({ traits: { merge, scroll } }: Prop, path: string, value: unknown): void {
    const { reset, intent } = this.#selection
    const isReset = reset.has(path)
    if (scroll) {
      const position = { pageName: 'page', ...scroll(value), reset: isReset }
      ;(this.labels.scrollProps ??= {})[path] = position
    }
    if (!merge || isReset) return
    const { at, matchOn = [] } = merge
    const target = at === undefined ? path : `${path}.${at}`
    const how = scroll ? intent : merge.how
    const label = ({ append: 'mergeProps', prepend: 'prependProps', deep: 'deepMergeProps' } as const)[how]
    ;(this.labels[label] ??= []).push(target)
    for (const field of [matchOn].flat()) (this.labels.matchPropsOn ??= []).push(`${target}.${field}`)
  }

  /** The wanted members of a plain object, in which there may be props of all kinds. */
  #within(value: unknown, path: string, extent: Extent): unknown {
    if (!hasProps(value) || path.split('.').length > maxDepth) return value
    return extent === 'whole' && !someWithin(value, isToResolve) ? value : this.members(value, path, extent)
  }
}

function toProp(input: unknown): Prop {
  return input instanceof Prop ? (input as Prop) : new Prop(input, {})
}

/**
 * The value of a prop: itself, or what its function returns.
 * @throws {FMOD_INERTIA_MISPLACED_KIND} that is a kind, whose request would have been answered by now
 */
export async function evaluate(input: unknown): Promise<unknown> {
  const { value } = toProp(input)
  const evaluated = typeof value === 'function' ? await (value as () => unknown)() : await value
  if (evaluated instanceof Prop) throw new errorCodes.FMOD_INERTIA_MISPLACED_KIND()
  return evaluated
}

function isAlways(value: unknown): boolean {
  return value instanceof Prop && value.traits.always === true
}

/** Whether a value must be resolved; most objects are data, and sent as they are. */
function isToResolve(value: unknown): boolean {
  return typeof value === 'function' || value instanceof Prop || value instanceof Promise
}

/** The props. A promise among them that fails before it is read, or that the visit does not ask for, must not end the process. */
export function ignoreUnread(props: Props): Props {
  if (props instanceof Prop) throw new errorCodes.FMOD_INERTIA_MISPLACED_KIND()
  someWithin(props, (value) => {
    if (value instanceof Promise) value.catch(() => {})
    return false
  })
  return props
}

/** Whether a value is such, or one in the kinds and plain objects below it. */
function someWithin(value: unknown, isSuch: (value: unknown) => boolean, seen = new Set<unknown>()): boolean {
  if (isSuch(value)) return true
  if (value instanceof Prop) return someWithin(value.value, isSuch, seen)
  if (!hasProps(value) || seen.has(value)) return false
  seen.add(value)
  return Object.values(value).some((member) => someWithin(member, isSuch, seen))
}

/** An object that JSON shows by its members. Lists are taken whole: the client would replace them by the object of their parts. */
function hasProps(value: unknown): value is Props {
  return isPlainObject(value) && !('toJSON' in value)
}
