/** The props of each component, declared once and checked where pages are sent. */
import type { PageFlags } from './page.ts'
import type { PropInput } from './prop.ts'
import type { Props } from './props.ts'

/**
 * The props of pages by component. Extend it by declaration merging, and share it with the front end:
 * `declare module '@fastify-modular/inertia' { interface InertiaPages { 'Notes/Index': { notes: Note[] } } }`.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- merged into by applications
export interface InertiaPages {}

/** The declared components; any text in an application that declares none. */
export type PageName<Pages> = keyof Pages extends never ? string : keyof Pages & string

/** Props as a handler may write them: each a value, a function or a kind such as `defer`, at any depth of objects. */
type Written<P> = { readonly [K in keyof P]: PropInput<P[K]> | PropInput<Within<P[K]>> }

/** An object with kinds among its members. Lists are taken whole, and so is what JSON shows as a text. */
type Within<V> = V extends readonly unknown[] | Date | ((...args: never) => unknown)
  ? never
  : V extends object
    ? Written<V>
    : never

type PropsOf<Pages, C> = C extends keyof Pages ? Written<Pages[C]> : Props

/** What follows the component: its props, which may be left out where all of them are optional, and flags. */
export type PageArguments<Pages, C> =
  Partial<PropsOf<Pages, C>> extends PropsOf<Pages, C>
    ? [props?: PropsOf<Pages, C>, flags?: PageFlags]
    : [props: PropsOf<Pages, C>, flags?: PageFlags]
