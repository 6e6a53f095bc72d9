/** Ctrl K: settings, notes, pages and what one can do, from every page. */
import type { PaletteItem } from '@fastify-modular/settings-ui'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Note } from '../modules/notes/note.ts'
import type { Texts } from '../texts/texts.ts'
import type { User } from '../web/shared-props.ts'
import { Icon } from './drawings.tsx'
import { useTexts } from './shared.ts'

interface PaletteElement extends HTMLElement {
  items: (query: string) => Promise<readonly PaletteItem[]>
  open?: () => Promise<void>
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'fm-palette': React.DetailedHTMLProps<React.HTMLAttributes<HTMLElement>, HTMLElement> & {
        label: string
      }
    }
  }
}

/** The button that opens it, and the keys that do. */
export function Palette({ user }: { user: User }): ReactNode {
  const texts = useTexts()
  const element = useRef<PaletteElement>(null)
  const [keys, setKeys] = useState('Ctrl K')

  useEffect(() => {
    if (/^(Mac|iP)/.test(navigator.platform)) setKeys('⌘ K')
  }, [])

  useEffect(() => {
    const offer = async (): Promise<void> => {
      await customElements.whenDefined('fm-palette')
      if (element.current) element.current.items = createItems(texts, user)
    }
    void offer()
  }, [texts, user.id])

  return (
    <>
      <script async type="module" src="/settings/assets/palette.js" />
      <button
        className="icon-button row search-all"
        type="button"
        aria-label={texts.searchEverything}
        aria-keyshortcuts="Meta+K Control+K"
        onClick={() => void element.current?.open?.()}
      >
        <Icon name="search" />
        <kbd data-keys={keys} />
      </button>
      <fm-palette ref={element} label={texts.searchEverything} />
    </>
  )
}

const most = 5
const mostLately = 3

/** Before anything is searched for: the newest notes, and what one can do. Notes are read when it opens. */
function createItems(texts: Texts, user: User): PaletteElement['items'] {
  const pages = pagesOf(texts, user)
  const actions = actionsOf(texts)
  let notes: Promise<readonly Note[]> = Promise.resolve([])
  return async function items(query) {
    const wanted = query.trim().toLocaleLowerCase()
    if (wanted === '') {
      notes = readNotes()
      return [...(await notes).slice(0, mostLately).map((note) => toItem(note, texts.lately)), ...actions]
    }
    const has = (text: string): boolean => text.toLocaleLowerCase().includes(wanted)
    const found = (await notes).filter(({ title, body }) => has(title) || has(body))
    return [
      ...found.slice(0, most).map((note) => toItem(note, texts.notes)),
      ...[...pages, ...actions].filter(({ label }) => has(label)),
    ]
  }
}

async function readNotes(): Promise<readonly Note[]> {
  try {
    const answer = await fetch('/api/notes')
    return answer.ok ? ((await answer.json()) as readonly Note[]) : [] // as its schema says
  } catch {
    return [] // offline: settings and pages are still there
  }
}

function toItem({ id, title, body }: Note, group: string): PaletteItem {
  return {
    label: title,
    detail: body.slice(0, 80),
    icon: 'note',
    group,
    href: `/notes?q=${encodeURIComponent(title)}#note-${id}`,
  }
}

function pagesOf(texts: Texts, { isAdmin, canUpdateSettings }: User): readonly PaletteItem[] {
  const all = {
    '/': { label: texts.home, icon: 'globe' },
    '/notes': { label: texts.notes, icon: 'note' },
    ...(isAdmin && { '/mails': { label: texts.mail, icon: 'mail' } }),
    ...(canUpdateSettings && {
      '/settings/manage': { label: texts.settings, icon: 'sliders' },
      '/settings/manage?view=activity': { label: texts.whatChanged, icon: 'users' },
    }),
    '/settings/preferences': { label: texts.preferences, icon: 'theme' },
    '/api/docs': { label: texts.api, icon: 'plug' },
  }
  return Object.entries(all).map(([href, item]) => ({ ...item, href, group: texts.pages }))
}

function actionsOf(texts: Texts): readonly PaletteItem[] {
  const signOut = (): void =>
    document.querySelector<HTMLFormElement>('form[action="/logout"]')?.requestSubmit()
  return [
    { label: texts.newNote, icon: 'plus', href: '/notes#new', group: texts.actions },
    { label: texts.signOut, icon: 'exit', run: signOut, group: texts.actions },
  ]
}
