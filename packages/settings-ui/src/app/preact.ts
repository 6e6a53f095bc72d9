/** The part of React that the pages use, on Preact alone: its compatibility layer would weigh another 2 kB. */
import { type ComponentChild, type ContainerNode, render } from 'preact'
import { useLayoutEffect, useReducer, useRef } from 'preact/hooks'

export { createContext } from 'preact'
export {
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from 'preact/hooks'

/** As React's: the component is rendered again when the snapshot becomes another. */
export function useSyncExternalStore<T>(
  subscribe: (listener: () => void) => () => void,
  snapshot: () => T,
): T {
  const [, renderAgain] = useReducer((count: number) => count + 1, 0)
  const value = snapshot()
  const shown = useRef({ value, snapshot })
  shown.current = { value, snapshot }
  useLayoutEffect(() => {
    const check = (): void => {
      const { current } = shown
      if (!Object.is(current.value, current.snapshot())) renderAgain(undefined)
    }
    check() // it may have changed before this effect
    return subscribe(check)
  }, [subscribe])
  return value
}

/** As React's. */
export function createRoot(container: ContainerNode): { render(content: ComponentChild): void } {
  return { render: (content) => render(content, container) }
}
