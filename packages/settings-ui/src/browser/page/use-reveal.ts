/** Where the focus goes: to the setting that was worked on, or to one that was looked for, brought into view with a ring around its row. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { EditorState } from '../model/editor-state.ts'
import { type Definition, elementId } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { treeOf } from '../tree.ts'
import type { View } from '../view/use-results.ts'
import { noSearch } from '../view/use-url-state.ts'

export function useFocus({ results, changeUrl }: Pick<View, 'results' | 'changeUrl'>): void {
  const { id, root, editor } = usePage()
  const { definitions, groups, sections, leftOut } = results
  const phase = useEditor((state) => state.phase)
  const focus = useEditor((state) => state.focus)
  /** What was found, or is not on this page. */
  const done = useRef<EditorState['focus']>(null)

  useEffect(() => {
    if (phase !== 'ready') return undefined
    const follow = (): void => {
      const name = hashOf(location)
      if (name.startsWith('setting:')) editor.reveal(name.slice('setting:'.length))
    }
    follow()
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [editor, phase])

  // What was worked on, when what had the focus is gone: a button of the bar, ↺, a dialog.
  useLayoutEffect(() => {
    if (!focus || focus.isSought) return
    // Once everything is drawn that changes with it, and before the user's next key.
    queueMicrotask(() => {
      const tree = treeOf(root.current)
      const focused = tree.activeElement ?? document.activeElement
      if (focused !== document.body && focused?.isConnected && !focused.closest('dialog')) return
      const control = tree.getElementById(elementId({ id }, focus))
      if (control) focusControl(control)
      else root.current?.querySelector<HTMLElement>('.fm-main')?.focus({ preventScroll: true })
    })
  }, [focus, id, root])

  // What is sought: runs again once the group is open and the search is gone.
  useLayoutEffect(() => {
    if (!focus?.isSought || focus === done.current) return
    const passed = new Set<string>()
    const find = (name: string): Definition | undefined =>
      definitions.find(({ key }) => key === name && !passed.has(key))
    let definition = find(focus.key)
    // What decides whether it is there shows why it is not; two settings may hide each other.
    while (definition?.showWhen && leftOut.has(definition.key)) {
      passed.add(definition.key)
      definition = find(definition.showWhen.key)
    }
    // A link may name a setting of another component on the host's page.
    if (!definition) return void (done.current = focus)
    const isListed = sections.some(({ rows }) => rows.some((row) => row.definition === definition))
    const control = isListed ? treeOf(root.current).getElementById(elementId({ id }, definition)) : null
    if (!control) {
      const group = groups.find((each) => each.definitions.includes(definition))
      return changeUrl({ ...noSearch, group: group?.slug ?? null })
    }
    show(control)
    done.current = focus
  }, [focus, sections, leftOut, definitions, groups, id, root, changeUrl])
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
