/** What the pages use of React, made of Preact alone: `preact/compat` has much that they do not use. */
import { type ComponentChildren, options, render } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks'

export { createContext, Fragment } from 'preact'
export {
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'preact/hooks'

const { event: onEvent } = options

options.event = (event) => Object.assign(onEvent?.(event) ?? event, { nativeEvent: event })

export function useSyncExternalStore<T>(subscribe: (listener: () => void) => () => void, read: () => T): T {
  const value = read()
  const [, renderAgain] = useReducer((count: number) => count + 1, 0)
  const latest = useRef({ value, read })
  const check = (): void => {
    const { current } = latest
    if (!Object.is(current.value, current.read())) renderAgain(undefined)
  }
  useLayoutEffect(() => {
    latest.current = { value, read }
    check()
  }, [value, read])
  useEffect(() => {
    check()
    return subscribe(check)
  }, [subscribe])
  return value
}

/** Of a page that stays as long as its document. Context does not reach through it. */
export function createPortal(children: ComponentChildren, element: Element) {
  queueMicrotask(() => render(children, element)) // not within the drawing of what it stands in
  return null
}

export function createRoot(element: Element) {
  return {
    render: (content: ComponentChildren) => render(content, element),
    unmount: () => render(null, element),
  }
}
