/** The kinds of props that the protocol knows besides plain values. They may be combined: `defer(merge(loadPage))`. */
import { FMOD_INERTIA_MISPLACED_KIND } from './misuse-errors.ts'

/** A value, or a function that returns it and is called only when the answer includes the prop. */
export type Lazy<T> = T | (() => T | Promise<T>)

/** A prop as handlers write it. */
export type PropInput<T> = Lazy<T> | Prop<T>

/** How a list or an object joins what the client has. */
export interface MergeOptions {
  /** The member of the prop that is merged, as a dot path: `'data'`. @default the prop itself */
  readonly at?: string
  /** Members by which items are recognised, so that an item that comes again replaces the old one: `'id'`. */
  readonly matchOn?: string | readonly string[]
}

export interface DeferOptions {
  /** Props of one group are loaded by one request. @default 'default' */
  readonly group?: string
  /** Whether a prop that fails leaves the others alone; the client shows what `<Deferred>` has for it. @default false */
  readonly rescue?: boolean
}

export interface OnceOptions {
  /** The name under which the client keeps the value; pages that share it share the value. @default the prop's path */
  readonly key?: string
  /** Milliseconds after which the client fetches it again. @default never */
  readonly expiresIn?: number
}

/** Where a portion of an endless list lies. Pages are numbers or cursors; null where there is none. */
export interface ScrollPosition {
  readonly currentPage: number | string | null
  readonly previousPage: number | string | null
  readonly nextPage: number | string | null
  /** The query parameter that names the page. @default 'page' */
  readonly pageName?: string
}

export interface Traits {
  readonly always?: true
  readonly optional?: true
  readonly defer?: Required<DeferOptions>
  readonly merge?: MergeOptions & { readonly how: 'append' | 'prepend' | 'deep' }
  readonly once?: OnceOptions
  readonly scroll?: (value: unknown) => ScrollPosition
}

/** A prop of one or several kinds. */
export class Prop<T = unknown> {
  readonly value: Lazy<T>
  readonly traits: Traits

  constructor(value: Lazy<T>, traits: Traits) {
    this.value = value
    this.traits = traits
  }

  /** @throws {FMOD_INERTIA_MISPLACED_KIND} always: what is inside must not reach the client where nothing resolves the kind */
  toJSON(): never {
    throw new FMOD_INERTIA_MISPLACED_KIND()
  }
}

function withTraits<T>(prop: PropInput<T>, traits: Traits): Prop<T> {
  return prop instanceof Prop ? new Prop(prop.value, { ...prop.traits, ...traits }) : new Prop(prop, traits)
}

/** A prop that partial reloads receive even when they do not name it: `always(() => unreadCount())`. */
export function always<T>(prop: PropInput<T>): Prop<T> {
  return withTraits(prop, { always: true })
}

/** A prop that only partial reloads receive: `router.reload({ only: ['permissions'] })`. */
export function optional<T>(prop: PropInput<T>): Prop<T> {
  return withTraits(prop, { optional: true })
}

/** A prop that the client loads by itself, right after it has shown the page: `<Deferred data="report">`. */
export function defer<T>(
  prop: PropInput<T>,
  { group = 'default', rescue = false }: DeferOptions = {},
): Prop<T> {
  return withTraits(prop, { defer: { group, rescue } })
}

/** A list whose items a partial reload adds behind those that the client has; an object whose members it adds. */
export function merge<T>(prop: PropInput<T>, options: MergeOptions = {}): Prop<T> {
  return withTraits(prop, { merge: { ...options, how: 'append' } })
}

/** Like `merge`, and new items come first. */
export function prepend<T>(prop: PropInput<T>, options: MergeOptions = {}): Prop<T> {
  return withTraits(prop, { merge: { ...options, how: 'prepend' } })
}

/** An object that a partial reload merges at every level; its lists grow. `matchOn` then names paths: `'messages.id'`. */
export function deepMerge<T>(prop: PropInput<T>, options: MergeOptions = {}): Prop<T> {
  return withTraits(prop, { merge: { ...options, how: 'deep' } })
}

/** A prop that the client keeps over visits and does not receive again, unless a partial reload names it. */
export function once<T>(prop: PropInput<T>, options: OnceOptions = {}): Prop<T> {
  return withTraits(prop, { once: options })
}

/**
 * A portion of an endless list, `{ data: [...] }`, for `<InfiniteScroll>`. The client says at which end it joins.
 * @param position where the portion lies, made of its value
 */
export function scroll<T>(
  prop: PropInput<T>,
  position: (value: T) => ScrollPosition,
  options: MergeOptions = {},
): Prop<T> {
  return withTraits(prop, {
    scroll: position as (value: unknown) => ScrollPosition, // it meets only the value of its own prop
    merge: { at: 'data', ...options, how: 'append' },
  })
}
