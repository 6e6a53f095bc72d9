/** Links of this application load no new document, so the browser does not ask about what is unsaved: this does. */
import { router } from '@inertiajs/react'
import { useCallback, useEffect, useRef } from 'react'

/** A function for `onDirtyChange` of the settings components. */
export function useLeaveGuard(): (isDirty: boolean) => void {
  const isDirty = useRef(false)
  useEffect(
    () =>
      router.on('before', ({ detail: { visit } }) => {
        const isReload = visit.only.length > 0
        return isReload || !isDirty.current || window.confirm('Leave this page and lose what is not saved?')
      }),
    [],
  )
  return useCallback((value) => {
    isDirty.current = value
  }, [])
}
