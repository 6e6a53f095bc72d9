/** Keys and warnings of the window: Ctrl+S saves, leaving with drafts asks. */
import { useEffect, useLayoutEffect } from 'react'
import { format } from '../messages/format.ts'
import { useEditor, usePage } from '../page/page-context.ts'

export function useGuards(): void {
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
      save()
    }
    addEventListener('keydown', saveByKey)
    return () => removeEventListener('keydown', saveByKey)
  }, [save])

  useLayoutEffect(() => {
    if (errorCount === 0) return undefined
    const title = document.title
    document.title = format(messages.titleError, { count: errorCount }) + title
    return () => {
      document.title = title
    }
  }, [errorCount, messages])
}
