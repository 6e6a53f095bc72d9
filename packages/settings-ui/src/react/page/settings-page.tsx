/** A page of settings: search, tabs, groups, and what opens over them. */
import { type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { HistoryDialog } from '../dialogs/history-dialog.tsx'
import { ImportDialog } from '../dialogs/import-dialog.tsx'
import { ResetDialog } from '../dialogs/dialog.tsx'
import { ReviewDialog } from '../dialogs/dialog.tsx'
import { SignedOutDialog } from '../dialogs/dialog.tsx'
import { SettingScope } from '@fastify-modular/settings/client'
import { needsConfirmation } from '../model/editor-state.ts'
import { GroupNav } from './groups.tsx'
import { Context, type OpenDialog, type PageContext, useEditor, usePage } from '../page-context.ts'
import { ScopeTabs } from './toolbar.tsx'
import { SearchBar } from './toolbar.tsx'
import { SettingsList } from './settings-list.tsx'
import { TransferMenu } from './toolbar.tsx'
import { useGuards } from './use-guards.ts'
import { useReveal } from './use-reveal.ts'
import { type Results, type Tab, useResults } from './use-results.ts'
import { useUrlState } from './use-url-state.ts'

interface SettingsPageProps {
  readonly context: Omit<PageContext, 'open' | 'reveal' | 'save'>
  readonly heading: string
  /** Only this group, without search and tabs. */
  readonly group?: string | undefined
}

export function SettingsPage({ context, heading, group }: SettingsPageProps): ReactNode {
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  const [wanted, setWanted] = useState<{ readonly key: string } | null>(null)
  const page = useMemo(
    () => ({
      ...context,
      open: setDialog,
      reveal: (key: string) => setWanted({ key }),
      save: () => {
        if (needsConfirmation(context.editor.getState())) setDialog({ kind: 'review' })
        else void context.editor.save()
      },
    }),
    [context],
  )
  return (
    <Context.Provider value={page}>
      <Body heading={heading} group={group} wanted={wanted} />
      <OpenedDialog dialog={dialog} onClose={() => setDialog(null)} />
    </Context.Provider>
  )
}

interface BodyProps {
  readonly heading: string
  readonly group: string | undefined
  readonly wanted: { readonly key: string } | null
}

function Body({ heading, group, wanted }: BodyProps): ReactNode {
  const { id, editor, canUpdate } = usePage()
  const root = useRef<HTMLDivElement>(null)
  const [state, changeUrl] = useUrlState({ isOwner: group === undefined })
  const tab = useTab(state.scope, group)
  const results = useResults(tab, state, group)
  useGuards(root)
  useReveal({ wanted, results, tab, changeUrl })

  return (
    <div className="fm-settings" ref={root}>
      <div className="fm-head">
        <h1>{heading}</h1>
        {group === undefined && <SearchBar state={state} onChange={changeUrl} />}
      </div>
      {tab && (
        <div className="fm-toolbar">
          <ScopeTabs current={tab} onSelect={(scope) => changeUrl({ scope }, true)} />
          {canUpdate && !editor.isOwn && <TransferMenu />}
        </div>
      )}
      <div className="fm-columns">
        {results.groups.length > 1 && <GroupNav groups={results.groups} matches={results.matches} />}
        <div
          className="fm-main"
          id={`${id}-settings`}
          tabIndex={-1}
          {...(tab && { role: 'tabpanel', 'aria-labelledby': `${id}-tab-${tab}` })}
        >
          <SettingsList tab={tab} results={results} state={state} onSearch={changeUrl} />
        </div>
      </div>
      <Announcers found={results.found} />
    </div>
  )
}

/** The tab that the address names, or else the first that has something for the caller; none on other pages. */
function useTab(scope: string | null, group: string | undefined): Tab | null {
  const { editor, isAdmin } = usePage()
  const definitions = useEditor((state) => state.definitions)
  if (editor.isOwn || group !== undefined) return null
  if (scope === 'system' || scope === 'application') return scope
  const hasSystem = definitions.some((definition) => definition.scope === SettingScope.System)
  const hasOthers = definitions.some((definition) => definition.scope !== SettingScope.System)
  return hasSystem && (isAdmin || !hasOthers) ? 'system' : 'application'
}

/** Two regions: what a search has found is said late, and would take the place of what was saved meanwhile. */
function Announcers({ found }: Pick<Results, 'found'>): ReactNode {
  const announcement = useEditor((state) => state.announcement)
  return (
    <>
      <Announcer announcement={announcement} delay={50} />
      <Announcer announcement={found} delay={300} />
    </>
  )
}

interface AnnouncerProps {
  /** A new object says its text again. */
  readonly announcement: { readonly text: string }
  /** Milliseconds in which another one takes its place. */
  readonly delay: number
}

/** Announces what happened to users of screen readers. */
function Announcer({ announcement, delay }: AnnouncerProps): ReactNode {
  const [text, setText] = useState('')
  // Emptied first, so that the same words are said again.
  useLayoutEffect(() => {
    setText('')
    const timers = [setTimeout(() => setText(announcement.text), delay), setTimeout(() => setText(''), 8000)]
    return () => timers.forEach(clearTimeout)
  }, [announcement, delay])
  return (
    <p className="fm-toast" role="status">
      {text}
    </p>
  )
}

interface OpenedDialogProps {
  readonly dialog: OpenDialog | null
  readonly onClose: () => void
}

function OpenedDialog({ dialog, onClose }: OpenedDialogProps): ReactNode {
  const isSignedOut = useEditor(({ phase, failure }) => phase === 'ready' && failure?.status === 401)
  if (isSignedOut) return <SignedOutDialog />
  if (!dialog) return null
  if (dialog.kind === 'review') return <ReviewDialog onClose={onClose} />
  if (dialog.kind === 'import') return <ImportDialog onClose={onClose} />
  const { kind, definition } = dialog
  const Chosen = kind === 'history' ? HistoryDialog : ResetDialog
  return <Chosen definition={definition} onClose={onClose} />
}
