/** A value from outside the components. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

/** What `read` returns; the component is drawn again when it is another after a notification. */
export function useExternal<T>(subscribe: (listener: () => void) => () => void, read: () => T): T {
  const value = read()
  const [, renderAgain] = useState({})
  const latest = useRef({ value, read })
  const check = (): void => {
    const { current } = latest
    if (!Object.is(current.value, current.read())) renderAgain({})
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
