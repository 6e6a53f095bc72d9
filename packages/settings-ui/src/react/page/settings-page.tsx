/** A page of settings: groups, search, rows, the bar that saves, and what opens over them. */
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { needsConfirmation } from '../model/editor-state.ts'
import type { Group } from '../model/listing.ts'
import { useMore } from '../use-more.ts'
import { Context, type OpenDialog, type PageContext, useEditor, usePage } from '../page-context.ts'
import { GroupNav, GroupPicker } from './group-nav.tsx'
import { ResultsList } from './results-list.tsx'
import { SaveBar } from './save-bar.tsx'
import { SearchBar } from './search-bar.tsx'
import { Announcers } from './announcer.tsx'
import { useHighlight } from './use-highlight.ts'
import { useResults } from './use-results.ts'
import { useReveal } from './use-reveal.ts'
import { useUrlState } from './use-url-state.ts'
import { useWindow } from './use-window.ts'

interface SettingsPageProps {
  readonly context: Omit<PageContext, 'open' | 'reveal' | 'save'>
  readonly heading: string
  /** Only this group, without search and navigation. */
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
      {dialog && <LazyDialog dialog={dialog} onClose={() => setDialog(null)} />}
    </Context.Provider>
  )
}

interface BodyProps {
  readonly heading: string
  readonly group: string | undefined
  readonly wanted: { readonly key: string } | null
}

function Body({ heading, group, wanted }: BodyProps): ReactNode {
  const { id, root, isEmbedded, editor, messages, save, canUpdate } = usePage()
  const [state, changeUrl] = useUrlState({ isOwner: group === undefined && !isEmbedded })
  const [areKeysShown, setKeysShown] = useState(false)
  const [isWhole, setWhole] = useState(false)
  const results = useResults(state, { group, isWhole })
  const isReady = useEditor(({ phase }) => phase === 'ready')
  useWindow()
  useReveal({ wanted, results, changeUrl })
  useHighlight(root, results.found.words, results.sections)

  const isActivity = canUpdate && state.view !== null && !results.isSearch
  const isSingle = editor.isOwn || group !== undefined
  const nav = { results, state, changeUrl }
  const classes = ['fm', 'fm-settings', isSingle && 'is-single', areKeysShown && 'are-keys-shown']
  return (
    <div className={classes.filter(Boolean).join(' ')} ref={root}>
      <div className="fm-page">
        <div className="fm-side">
          <h1 dir="auto">{(group && results.groups[0]?.name) || heading}</h1>
          {!isSingle && <GroupNav {...nav} />}
        </div>
        <div className="fm-main" id={`${id}-settings`} tabIndex={-1}>
          {group === undefined && (
            <SearchBar {...nav} areKeysShown={areKeysShown} onShowKeys={setKeysShown}>
              {!isSingle && <GroupPicker {...nav} />}
            </SearchBar>
          )}
          <form
            noValidate
            hidden={!isReady}
            onSubmit={(event) => {
              event.preventDefault()
              save()
            }}
          >
            {isReady && isActivity && <LazyActivity groups={results.groups} />}
            {isReady && !isActivity && (
              <ResultsList {...nav} isWhole={isWhole} onShowAll={() => setWhole(true)} />
            )}
            {editor.isOwn && results.definitions.length > 0 && (
              <p className="fm-small fm-foot">{messages.savedAsYouGo}</p>
            )}
            <div className="fm-end">
              {isReady && <SaveBar />}
              <Announcers found={results.spoken} />
            </div>
          </form>
          {!isReady && <ResultsList {...nav} isWhole={isWhole} onShowAll={() => setWhole(true)} />}
        </div>
      </div>
    </div>
  )
}

interface LazyDialogProps {
  readonly dialog: OpenDialog
  readonly onClose: () => void
}

function LazyDialog({ dialog, onClose }: LazyDialogProps): ReactNode {
  const { editor, messages } = usePage()
  const more = useMore()
  useEffect(() => {
    if (more !== null) return
    editor.say({ kind: 'bad', text: messages.unreachable })
    onClose()
  }, [more])
  if (!more) return null
  if (dialog.kind === 'review') return <more.ReviewDialog onClose={onClose} />
  if (dialog.kind === 'import') return <more.ImportDialog onClose={onClose} />
  if (dialog.kind === 'revert') return <more.RevertDialog revision={dialog.revision} onClose={onClose} />
  const OfOne = dialog.kind === 'reset' ? more.ResetDialog : more.HistoryDialog
  return <OfOne definition={dialog.definition} onClose={onClose} />
}

function LazyActivity({ groups }: { readonly groups: readonly Group[] }): ReactNode {
  const { messages } = usePage()
  const more = useMore()
  if (more === null) return <p className="fm-notice is-bad">{messages.unreachable}</p>
  return more && <more.ActivityPage groups={groups} />
}
