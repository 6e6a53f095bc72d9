/** Keys and warnings of the window: Ctrl+S saves; leaving with drafts needs a confirmation. */
import { type RefObject, useEffect, useLayoutEffect } from 'react'
import { format } from '../messages.ts'
import { useEditor, usePage } from '../page-context.ts'

/** @param root the element of the page: a host may show several */
export function useGuards(root: RefObject<Element | null>): void {
  const { messages, save } = usePage()
  const hasDrafts = useEditor((state) => state.drafts.size > 0)
  const errorCount = useEditor((state) =>
    state.summary ? [...state.drafts.values()].filter(({ errors }) => errors.length > 0).length : 0,
  )

  // Only while there is something to lose: the listener keeps a page out of the back/forward cache.
  useLayoutEffect(() => {
    if (!hasDrafts) return undefined
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [hasDrafts])

  useEffect(() => {
    const saveByKey = (event: KeyboardEvent): void => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      // With the focus in a page or a dialog it is meant for that one only.
      const focused =
        event.target instanceof Element ? event.target.closest('.fm-settings, .fm-dialog') : null
      if (focused === null || focused === root.current) save()
    }
    addEventListener('keydown', saveByKey)
    return () => removeEventListener('keydown', saveByKey)
  }, [root, save])

  useLayoutEffect(() => {
    if (errorCount === 0) return undefined
    const prefix = format(messages.titleError, { count: errorCount })
    document.title = prefix + document.title
    return () => {
      // The rest of it may have changed: it is the host's, and another page may say the same.
      document.title = document.title.replace(prefix, '')
    }
  }, [errorCount, messages])
}
