/** What a page has to do with its window: the key that saves, the warning before unsaved changes are lost, and the title. */
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { format } from '../../texts/messages.ts'
import { needsAttention } from '../model/editor-state.ts'
import { useEditor, usePage } from '../page-context.ts'
import { listenToShortCut, treeOf } from '../tree.ts'
import type { View } from '../view/use-results.ts'

export function useWindow(view: Pick<View, 'url' | 'results'>): void {
  const { editor, root, isEmbedded, onDirtyChange } = usePage()

  useEffect(() => {
    let isDirty = false
    function report(hasDrafts: boolean): void {
      if (hasDrafts === isDirty) return
      isDirty = hasDrafts
      // Only while there is something to lose: the listener keeps a page out of the back/forward cache.
      if (isDirty) addEventListener('beforeunload', warn)
      else removeEventListener('beforeunload', warn)
      onDirtyChange(isDirty)
    }
    const unsubscribe = editor.subscribe(() => report(editor.state.drafts.size > 0))
    return () => {
      unsubscribe()
      report(false) // what is gone with the component is not unsaved
    }
  }, [editor, onDirtyChange])

  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      event.preventDefault()
      // With the focus in a page or a dialog it is meant for that one only.
      const [target] = event.composedPath()
      const focused = target instanceof Element ? target.closest('.fm-settings, .fm-dialog') : null
      if (focused === null || focused === root.current) editor.submit()
    }
    // The keys of a part of a page end at its shadow root.
    return listenToShortCut('S', press, isEmbedded ? treeOf(root.current) : undefined)
  }, [root, editor, isEmbedded])

  useScheme()
  useTitle(view)
}

function warn(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

/** What is around the page follows the setting that chooses its scheme; values that name none leave it to the system. */
function useScheme(): void {
  const { root, themeSetting: key } = usePage()
  const chosen = useEditor(({ drafts, values }) =>
    key === undefined ? undefined : (drafts.get(key)?.input ?? values.get(key)?.value),
  )
  useEffect(() => {
    if (chosen === undefined) return
    const scheme = chosen === 'light' || chosen === 'dark' ? chosen : 'auto'
    treeOf(root.current).firstElementChild?.setAttribute('data-theme', scheme)
  }, [root, chosen])
}

/** What stands before the title that the server has given to the document. */
let prefix = ''
/** Puts it back where a host names its document anew. */
let keeper: MutationObserver | undefined

/** Gives the document another title of the server's. */
export function retitle(title: string): void {
  document.title = prefix + title
}

/** A host that names its document anew does not know the prefix. */
function isPrefixed(): boolean {
  return document.title.startsWith(prefix)
}

function setPrefix(next: string): void {
  const title = isPrefixed() ? document.title.slice(prefix.length) : document.title
  prefix = next
  retitle(title)
  // Outside of the component, so that an element which is taken away leaves nothing behind.
  keeper ??= new MutationObserver(() => isPrefixed() || retitle(document.title))
  keeper.disconnect()
  if (next !== '') keeper.observe(document.head, { subtree: true, childList: true, characterData: true })
}

/** How many settings are wrong, and what is open: bookmarks and the history of the browser tell one from another. */
function useTitle({ url, results: { current, groups } }: Pick<View, 'url' | 'results'>): void {
  const { messages, isEmbedded } = usePage()
  const count = useEditor((state) => needsAttention(state).length)
  const group = groups.length > 1 ? current?.name : undefined
  const open = url.text.trim() || (url.view === null ? group : messages.activity)
  const next = (count > 0 ? format(messages.titleError, { count }) : '') + (open ? `${open} · ` : '')
  useLayoutEffect(() => {
    if (isEmbedded) return undefined
    setPrefix(next)
    return () => setPrefix('')
  }, [next, isEmbedded])
}
