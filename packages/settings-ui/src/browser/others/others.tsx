/** Follows what others change, as long as a page is open. */
import { followSettings } from '@fastify-modular/settings/client/internal'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isWide } from '../controls/controls.tsx'
import { type PageContext, usePage } from '../page-context.ts'
import type { Filter } from '../model/listing.ts'
import { fadeIn, treeOf } from '../tree.ts'
import { Arrivals } from './arrivals.ts'
import { OpenReader } from './open-reader.ts'

/** What may move a waiting row out of the way. */
const releases = ['pointermove', 'focusin', 'focusout', 'input', 'keydown'] as const

interface OthersProps {
  /** Which rows are listed. */
  readonly only: readonly Filter[]
}

export function Others({ only }: OthersProps): ComponentChildren {
  const page = usePage()
  const { editor, api, access, baseUrl, root } = page
  const [text, setText] = useState('')
  const latest = useRef({ page, only })
  useLayoutEffect(() => {
    latest.current = { page, only }
  })
  useEffect(() => {
    // Who types is not pointing: the pointer lies somewhere.
    let isPointing = true
    const mayShow = (key: string): boolean =>
      disturbsNobody(root.current, key, mayGrow(key, latest.current), isPointing)
    const reader = new OpenReader({
      api,
      editor,
      onSettled: (...settled) =>
        void import('../more.ts').then(
          ({ saySettled }) => saySettled(latest.current.page, ...settled),
          () => undefined, // the rows show what holds
        ),
    })
    const readOpen = (): void => void (latest.current.page.canUpdate && editor.isShared && reader.read())
    readOpen()
    const arrivals = new Arrivals({
      page: () => latest.current.page,
      api,
      access,
      editor,
      mayShow,
      onOpen: readOpen,
      onShown: (keys) => requestAnimationFrame(() => fade(root.current, keys)),
      say: setText,
    })
    const stopFollowing = followSettings({ baseUrl, tenant: access.tenant }, arrivals)
    const unsubscribe = editor.subscribe(() => queueMicrotask(arrivals.show))
    const listening = new AbortController()
    const { signal } = listening
    const release = ({ type }: Event): void => {
      if (type === 'keydown' || type === 'input') isPointing = false
      if (type === 'pointermove') isPointing = true
      setTimeout(arrivals.show) // when the focus is where it goes
    }
    const network = ({ type }: Event): void => arrivals.onNetwork(type === 'online')
    for (const type of ['online', 'offline']) addEventListener(type, network, { signal })
    for (const type of releases) addEventListener(type, release, { signal })
    document.addEventListener('visibilitychange', reader.wake, { signal })
    addEventListener('pageshow', reader.wake, { signal })
    return () => {
      stopFollowing()
      unsubscribe()
      listening.abort()
      reader.stop()
      arrivals.stop()
    }
  }, [editor, api, access, baseUrl, root])
  return (
    <p className="fm-hidden" role="status" dir="auto">
      {text}
    </p>
  )
}

function fade(root: Element | null, keys: readonly string[]): void {
  for (const key of keys) fadeIn(findRow(root, key)?.querySelector('.fm-control'))
}

function findRow(root: Element | null, key: string): Element | null {
  return root?.querySelector(`[data-key="${CSS.escape(key)}"]`) ?? null
}

interface Latest {
  readonly page: PageContext
  readonly only: readonly Filter[]
}

/** Whether a change of a setting may change the height of the page: by the line of a decision, by what its control shows, or by other rows. */
function mayGrow(key: string, { page, only }: Latest): boolean {
  const { drafts, definitions, byKey } = page.editor.state
  const definition = byKey.get(key)
  const { clientWidth } = page.root.current?.querySelector('.fm-main') ?? document.documentElement
  return (
    only.some((filter) => ofValues.includes(filter)) ||
    drafts.has(key) ||
    clientWidth < narrow ||
    (definition !== undefined && (isWide(definition.type) || definition.schema !== null)) ||
    definitions.some(({ showWhen }) => showWhen?.key === key)
  )
}

/** Rows come and go with these as their values change. */
const ofValues: readonly Filter[] = ['modified', 'attention', 'locked']

/** Pixels below which what is news has a line of its own. */
const narrow = 608

/** Whether the field that has the focus stays as it is, and what is pointed at or written in stays where it is. */
function disturbsNobody(root: Element | null, key: string, mayGrow: boolean, isPointing: boolean): boolean {
  const row = findRow(root, key)
  const tree = treeOf(root)
  const field = tree.activeElement?.matches('input, textarea, select') ? tree.activeElement : null
  const hasDraft = row?.matches('[data-state=unsaved], [data-state=invalid], [data-state=conflict]') ?? false
  if (field && !hasDraft && row?.contains(field)) return false
  if (!mayGrow) return true
  const pointed = matchMedia('(hover: hover)').matches ? ':hover' : ':active'
  const under = isPointing ? [...tree.querySelectorAll(pointed)].at(-1) : null
  // A row grows at its end; one that is not listed may come anywhere.
  const place = row ?? root?.querySelector('form')
  const isBelow = (element: Element): boolean =>
    ((place?.compareDocumentPosition(element) ?? 0) & Node.DOCUMENT_POSITION_FOLLOWING) > 0
  return [field, under].every((element) => !element || row?.contains(element) || !isBelow(element))
}
