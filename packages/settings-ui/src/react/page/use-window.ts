/** What a page has to do with its window: the key that saves, the warning before unsaved changes are lost, the title, the focus. */
import { useEffect, useLayoutEffect } from 'react'
import { format } from '../../texts/messages.ts'
import { needsAttention } from '../model/editor-state.ts'
import { elementId } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { listenToShortCut, treeOf } from '../tree.ts'
import { focusControl } from './use-reveal.ts'

export function useWindow(): void {
  const { root, save } = usePage()
  const hasDrafts = useEditor((state) => state.drafts.size > 0)

  // Only while there is something to lose: the listener keeps a page out of the back/forward cache.
  useLayoutEffect(() => {
    if (!hasDrafts) return undefined
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [hasDrafts])

  useEffect(() => {
    return listenToShortCut(treeOf(root.current), 'S', (event) => {
      event.preventDefault()
      // With the focus in a page or a dialog it is meant for that one only. The keys of a shadow root end there.
      const focused =
        event.target instanceof Element ? event.target.closest('.fm-settings, .fm-dialog') : null
      if (focused === null || focused === root.current) save()
    })
  }, [root, save])

  useTitle()
  useFocus()
}

function useTitle(): void {
  const { messages, isEmbedded } = usePage()
  const count = useEditor((state) => needsAttention(state).length)
  useLayoutEffect(() => {
    if (count === 0 || isEmbedded) return undefined
    const prefix = format(messages.titleError, { count })
    document.title = prefix + document.title
    return () => {
      // The rest of it may have changed: it is the host's, and another page may say the same.
      document.title = document.title.replace(prefix, '')
    }
  }, [count, messages, isEmbedded])
}

/** The focus goes to the setting that was worked on when what had it is gone: a button of the bar, ↺, a dialog. */
function useFocus(): void {
  const { id, root, reveal } = usePage()
  const focus = useEditor((state) => state.focus)
  useLayoutEffect(() => {
    if (!focus) return
    if (focus.isError) return reveal(focus.key)
    // Once everything is drawn that changes with it, and before the user's next key.
    queueMicrotask(() => {
      const tree = treeOf(root.current)
      const focused = tree.activeElement ?? document.activeElement
      if (focused !== document.body && focused?.isConnected && !focused.closest('dialog')) return
      const control = tree.getElementById(elementId({ id }, focus))
      if (control) focusControl(control)
      else root.current?.querySelector<HTMLElement>('.fm-main')?.focus({ preventScroll: true })
    })
  }, [focus, id, reveal, root])
}
