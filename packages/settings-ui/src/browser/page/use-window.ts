/** What a page has to do with its window: the key that saves, the warning before unsaved changes are lost, the title, the focus, what is brought into view, and what is marked in it. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { format } from '../../texts/messages.ts'
import { needsAttention } from '../model/editor-state.ts'
import { fold } from '../model/search.ts'
import { type Definition, elementId } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import type { View } from './use-results.ts'
import { noSearch } from './use-url-state.ts'
import { listenToShortCut, treeOf } from '../tree.ts'

export function useWindow(): void {
  const { editor, root, save, onDirtyChange } = usePage()

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
    return listenToShortCut(treeOf(root.current), 'S', (event) => {
      event.preventDefault()
      // With the focus in a page or a dialog it is meant for that one only. The keys of a shadow root end there.
      const focused =
        event.target instanceof Element ? event.target.closest('.fm-settings, .fm-dialog') : null
      if (focused === null || focused === root.current) save()
    })
  }, [root, save])

  useScheme()
  useTitle()
  useFocus()
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

interface Wanted {
  readonly key: string
}

export function useReveal(
  wanted: Wanted | null,
  { results, changeUrl }: Pick<View, 'results' | 'changeUrl'>,
): void {
  const { id, root } = usePage()
  const { definitions, groups, sections, leftOut } = results
  const phase = useEditor((state) => state.phase)
  const [target, setTarget] = useState<Wanted | null>(null)

  useEffect(() => setTarget(wanted), [wanted])

  useEffect(() => {
    if (phase !== 'ready') return undefined
    const follow = (): void => {
      const name = hashOf(location)
      if (name.startsWith('setting:')) setTarget({ key: name.slice('setting:'.length) })
    }
    follow()
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [phase])

  // Runs again once the group is open and the search is gone.
  useLayoutEffect(() => {
    if (!target) return
    const passed = new Set<string>()
    const find = (name: string): Definition | undefined =>
      definitions.find(({ key }) => key === name && !passed.has(key))
    let definition = find(target.key)
    // What decides whether it is there shows why it is not; two settings may hide each other.
    while (definition?.showWhen && leftOut.has(definition.key)) {
      passed.add(definition.key)
      definition = find(definition.showWhen.key)
    }
    // A link may name a setting of another component on the host's page.
    if (!definition) return setTarget(null)
    const isListed = sections.some(({ rows }) => rows.some((row) => row.definition === definition))
    const control = isListed ? treeOf(root.current).getElementById(elementId({ id }, definition)) : null
    if (!control) {
      const group = groups.find((each) => each.definitions.includes(definition))
      return changeUrl({ ...noSearch, group: group?.slug ?? null })
    }
    show(control)
    setTarget(null)
  }, [target, sections, leftOut, definitions, groups, id, root, changeUrl])
}

/** Milliseconds for which a row that was looked for has a ring. */
const ringTime = 4000

/** Takes the ring away that is there. */
let removeRing = (): void => undefined

/** Puts the focus on a control, its row into the middle of the window, and a ring on the row until the next press. */
export function show(control: HTMLElement): void {
  control.closest('details')?.setAttribute('open', '')
  focusControl(control)
  removeRing()
  const row = control.closest('[data-key]')
  if (!row) return
  const ringed = new WeakRef(row) // a page that is gone is not kept for it
  const timer = setTimeout(() => removeRing(), ringTime)
  removeRing = () => {
    clearTimeout(timer)
    removeEventListener('pointerdown', removeRing, true)
    ringed.deref()?.removeAttribute('data-found')
    removeRing = () => undefined
  }
  addEventListener('pointerdown', removeRing, true)
  row.setAttribute('data-found', '')
  row.scrollIntoView({ block: 'center' })
}

/** The control of a setting, or of several elements the one that Tab stops at. */
function focusControl(control: HTMLElement): void {
  const inner = control.querySelector<HTMLElement>('[data-first]')
  ;(inner ?? control).focus()
}

/** A link may end in a fragment that cannot be decoded. */
function hashOf({ hash }: Location): string {
  try {
    return decodeURIComponent(hash.slice(1))
  } catch {
    return ''
  }
}

const name = 'fm-match'

export function useHighlight(
  root: RefObject<HTMLElement | null>,
  words: readonly string[],
  shown: unknown,
): void {
  useEffect(() => {
    if (!('highlights' in CSS) || words.length === 0) return undefined
    const texts = root.current?.querySelectorAll('.fm-name label, .fm-about bdi, .fm-alias span') ?? []
    const ranges = [...texts].flatMap((element) => rangesOf(element, words))
    // One for all pages in the document: each takes its own ranges away.
    const marks = CSS.highlights.get(name) ?? new Highlight()
    CSS.highlights.set(name, marks)
    for (const range of ranges) marks.add(range)
    return () => {
      for (const range of ranges) marks.delete(range)
    }
  }, [root, words, shown])
}

function rangesOf(element: Element, words: readonly string[]): Range[] {
  const node = element.firstChild
  if (!(node instanceof Text)) return []
  const text = fold(node.data)
  // Where folding changes the length, offsets would mark something else.
  if (text.length !== node.data.length) return []
  return words.flatMap((word) => {
    const ranges: Range[] = []
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      const range = new Range()
      range.setStart(node, at)
      range.setEnd(node, at + word.length)
      ranges.push(range)
    }
    return ranges
  })
}
