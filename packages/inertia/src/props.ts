/** Props as handlers write them, and their way to plain values. */
import { isRequested, narrow, type PartialReload } from './partial.ts'

/** Props of a page. A function is called, once, only when the request asks for its prop. */
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
export async function evaluate(prop: unknown): Promise<unknown> {
  const bare = isAlways(prop) ? prop.prop : prop
  return typeof bare === 'function' ? await bare() : bare
}

function isAlways(prop: unknown): prop is AlwaysProp {
  return typeof prop === 'object' && prop !== null && alwaysMark in prop
}
