/** From props as handlers write them to plain values, and what the client must know of them. */
import type { IncomingHttpHeaders } from 'node:http'
import { Prop, type ScrollPosition } from './prop-kinds.ts'

/** Props of a page, at any depth of plain objects: values, functions, and kinds such as `defer`. Lists are taken whole. */
export type Props = Readonly<Record<string, unknown>>

/** Members of the page object that say how the client treats props. Paths are those of nested props: `auth.notifications`. */
export interface PropLabels {
  /** By group. */
  readonly deferredProps?: Readonly<Record<string, readonly string[]>>
  readonly rescuedProps?: readonly string[]
  readonly mergeProps?: readonly string[]
  readonly prependProps?: readonly string[]
  readonly deepMergeProps?: readonly string[]
  readonly matchPropsOn?: readonly string[]
  /** By the key under which the client keeps the value; `expiresAt` in milliseconds since 1970. */
  readonly onceProps?: Readonly<Record<string, { readonly prop: string; readonly expiresAt: number | null }>>
  readonly scrollProps?: Readonly<Record<string, ScrollPosition & { readonly reset: boolean }>>
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
  /** Whether the client finds nested props that it holds; version 2 does not. */
  readonly holdsNested: boolean
}

/** What is selected of one object: the members of `only` (null: all), without those of `except`. */
interface PartialReload {
  readonly only: PathTree | null
  readonly except: PathTree
}

/** Dot paths as a tree; a node without children means everything below. */
type PathTree = ReadonlyMap<string, PathTree>

const nothing: PathTree = new Map()
const everything: PartialReload = { only: null, except: nothing }

const wholePage: Selection = {
  partial: null,
  reset: new Set(),
  held: new Set(),
  intent: 'append',
  holdsNested: true,
}

/** Reads the headers by which the client selects props of this component. */
export function readSelection(headers: IncomingHttpHeaders, component: string, client: 2 | 3 = 3): Selection {
  const isVisit = headers['x-inertia'] !== undefined
  return {
    partial: readPartialReload(headers, component),
    reset: new Set(listOf(headers['x-inertia-reset'])),
    held: new Set(isVisit ? listOf(headers['x-inertia-except-once-props']) : []),
    intent: headers['x-inertia-infinite-scroll-merge-intent'] === 'prepend' ? 'prepend' : 'append',
    holdsNested: client > 2,
  }
}

function readPartialReload(headers: IncomingHttpHeaders, component: string): PartialReload | null {
  if (headers['x-inertia-partial-component'] !== component) return null
  const only = treeOf(listOf(headers['x-inertia-partial-data']))
  const except = treeOf(listOf(headers['x-inertia-partial-except']))
  if (only.size === 0 && except.size === 0) return null
  return { only: only.size === 0 ? null : only, except }
}

/** The values to send, with their labels. */
export interface ResolvedProps {
  readonly props: Props
  readonly labels: PropLabels
}

/**
 * Resolves the props that a visit wants. Functions run side by side; the first that fails fails the page, unless its prop
 * is rescued: then `onRescue` gets the failure.
 */
export async function resolveProps(
  props: Props,
  selection: Selection = wholePage,
  onRescue: (failure: unknown, path: string) => void = () => {},
): Promise<ResolvedProps> {
  const resolution = new Resolution(selection, onRescue)
  const { partial } = selection
  return { props: await resolution.members(props, '', partial ?? everything), labels: resolution.labels() }
}

/** The props. A promise among them that fails before it is read, or that the visit does not ask for, must not end the process. */
export function ignoreUnread<T>(props: T, seen = new Set<unknown>()): T {
  if (props instanceof Promise) props.catch(() => {})
  else if (props instanceof Prop) ignoreUnread(props.value, seen)
  else if (isPlainObject(props) && !seen.has(props)) {
    seen.add(props)
    for (const member of Object.values(props)) ignoreUnread(member, seen)
  }
  return props
}

/** Deeper objects are sent as they are: one that contains itself would have no end, and JSON says so. */
const maxDepth = 50

/** A prop that is not part of the answer. */
const absent = Symbol('absent')

class Resolution {
  readonly #selection: Selection
  readonly #onRescue: (failure: unknown, path: string) => void
  readonly #deferred: Record<string, string[]> = {}
  readonly #once: Record<string, { prop: string; expiresAt: number | null }> = {}
  readonly #scroll: Record<string, ScrollPosition & { reset: boolean }> = {}
  readonly #lists = {
    rescuedProps: [] as string[],
    mergeProps: [] as string[],
    prependProps: [] as string[],
    deepMergeProps: [] as string[],
    matchPropsOn: [] as string[],
  }

  constructor(selection: Selection, onRescue: (failure: unknown, path: string) => void) {
    this.#selection = selection
    this.#onRescue = onRescue
  }

  /** The members of the page object that have content. */
  labels(): PropLabels {
    const all = {
      deferredProps: this.#deferred,
      onceProps: this.#once,
      scrollProps: this.#scroll,
      ...this.#lists,
    }
    return Object.fromEntries(Object.entries(all).filter(([, label]) => Object.keys(label).length > 0))
  }

  /** @param selected what the visit wants of this object */
  async members(object: Props, base: string, selected: PartialReload): Promise<Props> {
    const resolved = Object.entries(object).map(async ([key, input]) => {
      const path = base === '' ? key : `${base}.${key}`
      return [key, await this.#member(toProp(input), path, below(selected, key))] as const
    })
    return Object.fromEntries((await Promise.all(resolved)).filter(([, value]) => value !== absent))
  }

  /** @param selected what the visit wants of this prop; null for nothing of it */
  async #member(prop: Prop, path: string, selected: PartialReload | null): Promise<unknown> {
    const { traits } = prop
    const wanted = traits.always ? everything : selected
    if (wanted === null || this.#isLeftOut(prop, path)) return absent
    try {
      const value = await evaluate(prop)
      this.#label(prop, path, value)
      return await this.#within(value, path, wanted)
    } catch (failure) {
      if (!traits.defer?.rescue) throw failure
      this.#lists.rescuedProps.push(path)
      this.#onRescue(failure, path)
      return absent
    }
  }

  /** Whether the client does not get this prop now, although nothing excludes it: it holds it, or fetches it later. */
  #isLeftOut({ traits: { once, defer, optional } }: Prop, path: string): boolean {
    const { partial, held, holdsNested } = this.#selection
    if (once) {
      const { key = path, expiresIn } = once
      this.#once[key] = { prop: path, expiresAt: expiresIn === undefined ? null : Date.now() + expiresIn }
      const isHeld = held.has(key) && (holdsNested || !path.includes('.'))
      if (isHeld && (partial === null || partial.only === null)) return true
    }
    if (partial !== null) return false
    if (defer) (this.#deferred[defer.group] ??= []).push(path)
    return defer !== undefined || optional === true
  }

  /** Says how the value joins what the client has. A reset prop replaces it. */
  #label({ traits: { merge, scroll } }: Prop, path: string, value: unknown): void {
    const { reset, intent } = this.#selection
    const isReset = reset.has(path)
    if (scroll) this.#scroll[path] = { pageName: 'page', ...scroll(value), reset: isReset }
    if (!merge || isReset) return
    const { at, matchOn = [] } = merge
    const target = at === undefined ? path : `${path}.${at}`
    const how = scroll ? intent : merge.how
    const label = ({ append: 'mergeProps', prepend: 'prependProps', deep: 'deepMergeProps' } as const)[how]
    this.#lists[label].push(target)
    for (const field of [matchOn].flat()) this.#lists.matchPropsOn.push(`${target}.${field}`)
  }

  /** The selected members of a plain object, in which there may be props of all kinds. */
  #within(value: unknown, path: string, selected: PartialReload): unknown {
    if (!isPlainObject(value) || path.split('.').length > maxDepth) return value
    return selected === everything && !hasProps(value) ? value : this.members(value, path, selected)
  }
}

function toProp(input: unknown): Prop {
  return input instanceof Prop ? (input as Prop) : new Prop(input, {})
}

/** The value of a prop, whichever way it was written. */
async function evaluate({ value }: Prop): Promise<unknown> {
  return typeof value === 'function' ? await (value as () => unknown)() : await value
}

/** What a selection wants below a member; null where it does not want the member. */
function below({ only, except }: PartialReload, key: string): PartialReload | null {
  const [chosen, excluded] = [only?.get(key), except.get(key)]
  if ((only !== null && chosen === undefined) || excluded?.size === 0) return null
  const rest = chosen === undefined || chosen.size === 0 ? null : chosen
  return rest === null && excluded === undefined ? everything : { only: rest, except: excluded ?? nothing }
}

/** Whether a function, promise or kind of prop is below: most objects are data, and sent as they are. */
function hasProps(value: unknown, seen = new Set<unknown>()): boolean {
  if (typeof value === 'function' || value instanceof Prop || value instanceof Promise) return true
  if (!isPlainObject(value) || seen.has(value)) return false
  seen.add(value)
  return Object.values(value).some((member) => hasProps(member, seen))
}

/** An object that JSON shows by its members. Lists are taken whole: the client would replace them by the object of their parts. */
function isPlainObject(value: unknown): value is Props {
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function listOf(header: string | string[] | undefined): string[] {
  return String(header ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function treeOf(paths: readonly string[]): PathTree {
  const root: Tree = new Map()
  for (const path of paths) addPath(root, path.split('.'))
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
