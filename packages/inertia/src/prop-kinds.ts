/** The kinds of props that the protocol knows besides plain values. They may be combined: `prop.defer(prop.merge(loadPage))`. */
import {
  type DeferOptions,
  type MergeOptions,
  type OnceOptions,
  Prop,
  type PropInput,
  type ScrollPosition,
  type Traits,
} from './prop.ts'

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
