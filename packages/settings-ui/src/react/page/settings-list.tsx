/** The form of a page: its settings, or why there are none, what is wrong with them, and the bar that saves them. */
import { SettingScope } from '@fastify-modular/settings/client'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { failureText, format, plural } from '../messages.ts'
import { useEditor, useMayChange, usePage } from '../page-context.ts'
import { GroupCard } from './groups.tsx'
import type { Results, Tab } from './use-results.ts'
import type { UrlState } from './use-url-state.ts'

interface SettingsListProps {
  readonly tab: Tab | null
  readonly results: Results
  readonly state: UrlState
  readonly onSearch: (change: Partial<UrlState>) => void
}

export function SettingsList({ tab, results, state, onSearch }: SettingsListProps): ReactNode {
  const { messages, save } = usePage()
  const phase = useEditor((state) => state.phase)
  const isEmpty = useEditor((state) => state.definitions.length === 0)
  const { groups, matches, elsewhere, isSearch } = results
  const other = tab === 'system' ? 'application' : 'system'

  if (phase === 'loading') return <p className="fm-loading">{messages.loading}</p>
  if (phase === 'failed') return <LoadFailure />
  if (isEmpty) return <p className="fm-notice">{messages.empty}</p>
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <ErrorSummary />
      <ReadOnlyNotice tab={tab} />
      {groups.map((group) => (
        <GroupCard key={group.slug} group={group} matches={matches} isSearch={isSearch} />
      ))}
      {matches.size === 0 && isSearch && (
        <div className="fm-notice">
          <p>{state.text.trim() ? format(messages.noMatch, { query: state.text }) : messages.noneModified}</p>
          <button type="button" onClick={() => onSearch({ text: '', onlyModified: false })}>
            {messages.clearSearch}
          </button>
        </div>
      )}
      {elsewhere > 0 && isSearch && (
        <button type="button" className="fm-quiet" onClick={() => onSearch({ scope: other })}>
          {format(messages.moreIn, { count: elsewhere, tab: messages[other] })}
        </button>
      )}
      <SaveBar />
    </form>
  )
}

function LoadFailure(): ReactNode {
  const { editor, messages } = usePage()
  const failure = useEditor((state) => state.failure)
  return (
    <div className="fm-notice fm-bad" role="alert">
      <p>
        {messages.loadFailed} {failure && failureText(failure, messages)}
      </p>
      <button type="button" onClick={() => void editor.load()}>
        {messages.tryAgain}
      </button>
    </div>
  )
}

function ReadOnlyNotice({ tab }: { readonly tab: Tab | null }): ReactNode {
  const { messages } = usePage()
  const mayChange = useMayChange({ scope: SettingScope.Application })
  const mayChangeSystem = useMayChange({ scope: SettingScope.System })
  if (mayChange && (tab !== 'system' || mayChangeSystem)) return null
  return <p className="fm-notice">{mayChange ? messages.systemReadOnly : messages.readOnly}</p>
}

/** The errors, above the settings and focused: each line leads to its setting. */
function ErrorSummary(): ReactNode {
  const { messages, reveal } = usePage()
  const summary = useEditor((state) => state.summary)
  const drafts = useEditor((state) => state.drafts)
  const definitions = useEditor((state) => state.definitions)
  const element = useRef<HTMLDivElement>(null)
  const keys = summary?.keys.filter((key) => (drafts.get(key)?.errors.length ?? 0) > 0) ?? []

  // A layout effect: a passive one would come after the user's next key.
  useLayoutEffect(() => {
    if (summary) element.current?.focus()
  }, [summary])

  if (keys.length === 0) return null
  return (
    <div
      className="fm-notice fm-bad"
      role="alert"
      tabIndex={-1}
      ref={element}
      aria-label={messages.problemTitle}
    >
      <h2>{messages.problemTitle}</h2>
      <ul>
        {keys.map((key) => {
          const name = definitions.find((definition) => definition.key === key)?.displayName ?? key
          return (
            <li key={key}>
              <a
                href={`#setting:${key}`}
                onClick={(event) => {
                  event.preventDefault()
                  reveal(key)
                }}
              >
                {name}: {drafts.get(key)?.errors.join(' ')}
              </a>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

/** What is unsaved and what to do about it; also why the last attempt failed. In view as long as it matters. */
function SaveBar(): ReactNode {
  const { editor, messages, locale, open } = usePage()
  const count = useEditor((state) => state.drafts.size)
  const isSaving = useEditor((state) => state.saving)
  const failure = useEditor((state) => state.failure)
  const phase = useEditor((state) => state.phase)
  if ((count === 0 && !failure) || phase !== 'ready') return null
  return (
    <div className="fm-bar">
      {failure && failure.status !== 401 && (
        <p className="fm-error" role="alert">
          {failureText(failure, messages)}
        </p>
      )}
      {count > 0 && (
        <>
          <strong>{plural(messages.unsavedCount, count, locale)}</strong>
          <button type="button" className="fm-quiet" onClick={() => open({ kind: 'review' })}>
            {messages.review}
          </button>
          <button type="button" onClick={editor.discard}>
            {messages.discard}
          </button>
          <button type="submit" className="fm-primary" aria-disabled={isSaving || undefined}>
            {isSaving ? messages.saving : failure ? messages.tryAgain : messages.save}
          </button>
        </>
      )}
      {count === 0 && (
        <button type="button" onClick={editor.dismiss}>
          {messages.dismiss}
        </button>
      )}
    </div>
  )
}
