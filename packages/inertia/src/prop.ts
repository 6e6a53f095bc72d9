/** A prop as handlers write it: a value, a function, or one of the kinds that the protocol knows. */
import { errorCodes } from './misuse-errors.ts'

/** A value, or a function that returns it and is called only when the answer includes the prop. */
type Lazy<T> = T | (() => T | Promise<T>)

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
  /** Sends the value also to a client that holds one. @default false */
  readonly fresh?: boolean
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
    throw new errorCodes.FMOD_INERTIA_MISPLACED_KIND()
  }
}
