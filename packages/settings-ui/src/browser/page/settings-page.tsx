/** A page of settings: groups, search, rows, the bar that saves, and what opens over them. */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { EditorState, OpenDialog } from '../model/editor-state.ts'
import { laterPart, morePart, usePart } from '../use-more.ts'
import { useEditor, usePage } from '../page-context.ts'
import { HeaderPreview } from './preview.tsx'
import { GroupNav, GroupPicker } from './group-nav.tsx'
import { ResultsList } from './results-list.tsx'
import { SaveBar } from './save-bar.tsx'
import { SearchBar } from './search-bar.tsx'
import { type PagePart, useResults, useView, ViewContext } from '../view/use-results.ts'
import { useUrlState } from '../view/use-url-state.ts'
import { useFocus } from './use-reveal.ts'
import { useWindow } from './use-window.ts'

interface SettingsPageProps {
  readonly heading: string
  readonly part: PagePart
}

export function SettingsPage({ heading, part: { group, keys } }: SettingsPageProps): ComponentChildren {
  const { id, root, isEmbedded, editor, messages, canUpdate, ofTenant } = usePage()
  const isPart = group !== undefined || keys !== undefined
  const [url, changeUrl] = useUrlState({ isOwner: !isPart && !isEmbedded })
  const [areKeysShown, showKeys] = useState(false)
  const [isWhole, showWhole] = useState(false)
  const phase = useEditor((state) => state.phase)
  const isReady = phase === 'ready'
  // A reader who works elsewhere may come back.
  const later = usePart(laterPart, isReady || phase === 'elsewhere')
  const results = useResults(url, { group, keys, isWhole, later })
  const announcement = useEditor((state) => state.announcement)
  const dialog = useEditor((state) => state.dialog)
  const stale = useEditor((state) => state.stale)
  useWindow({ url, results })
  useFocus({ results, changeUrl })
  const { found, sections } = results
  useEffect(() => later?.highlight(root.current, found.words), [later, root, found.words, sections])

  const isActivity = canUpdate && url.view !== null && !results.isSearch
  const isSingle = !editor.isShared || isPart
  const hasGroupHead = editor.isShared && group !== undefined && (!isReady || results.groups.length > 0)
  const classes = [
    'fm',
    'fm-settings',
    isSingle && 'is-single',
    keys && 'is-part',
    areKeysShown && 'are-keys-shown',
  ]
  return (
    <ViewContext.Provider value={{ url, changeUrl, results, areKeysShown, showKeys, isWhole, showWhole }}>
      <div className={classes.filter(Boolean).join(' ')} ref={root}>
        <div className="fm-page">
          <div className="fm-side">
            {ofTenant && !isPart ? (
              <ofTenant.Heading text={heading} />
            ) : (
              !keys && (
                <h1 className={hasGroupHead ? 'is-said' : undefined} dir="auto" part="heading">
                  {(group && results.groups[0]?.name) || heading}
                </h1>
              )
            )}
            {!isSingle && <GroupNav />}
          </div>
          <div className="fm-main" id={`${id}-settings`} tabIndex={-1}>
            {!isPart && <SearchBar>{!isSingle && <GroupPicker />}</SearchBar>}
            <form
              noValidate
              hidden={!isReady}
              onSubmit={(event) => {
                event.preventDefault()
                editor.submit()
              }}
            >
              {isReady && (isActivity ? <LazyActivity /> : <ResultsList />)}
              {editor.isOwn && results.definitions.length > 0 && (
                <p className="fm-small fm-foot">
                  {messages.savedAsYouGo} {stale}
                </p>
              )}
              <div className="fm-end">
                {isReady && <SaveBar />}
                <Announcer announcement={announcement} delay={50} />
                {/* Of its own: what a search has found is said late, and would take the place of what was saved. */}
                <Announcer announcement={results.spoken} delay={300} />
                {later && <later.Others only={url.only} />}
              </div>
            </form>
            {!isReady && <ResultsList />}
          </div>
        </div>
      </div>
      <HeaderPreview />
      {dialog && <LazyDialog dialog={dialog} />}
    </ViewContext.Provider>
  )
}

interface AnnouncerProps {
  /** A new object says its text again. */
  readonly announcement: EditorState['announcement']
  /** Milliseconds in which another one takes its place. */
  readonly delay: number
}

/** What users of screen readers are told. */
function Announcer({ announcement, delay }: AnnouncerProps): ComponentChildren {
  const [text, setText] = useState('')
  // Emptied first, so that the same words are said again.
  useLayoutEffect(() => {
    setText('')
    const timer = setTimeout(() => setText(announcement.text), delay)
    return () => clearTimeout(timer)
  }, [announcement, delay])
  return (
    <p className="fm-hidden" role="status" dir="auto">
      {text}
    </p>
  )
}

function LazyDialog({ dialog }: { readonly dialog: OpenDialog }): ComponentChildren {
  const { editor, messages } = usePage()
  const more = usePart(morePart)
  const onClose = (): void => editor.open(null)
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

function LazyActivity(): ComponentChildren {
  const { messages } = usePage()
  const { groups } = useView().results
  const more = usePart(morePart)
  if (more === null) return <p className="fm-notice fm-line is-bad">{messages.unreachable}</p>
  return more && <more.ActivityPage groups={groups} />
}
