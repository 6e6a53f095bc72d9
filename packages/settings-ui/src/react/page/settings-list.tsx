/** The settings of a page, or why there are none. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import { SettingScope } from '@fastify-modular/settings/client'
import { ErrorSummary } from './error-summary.tsx'
import { GroupCard } from './group-card.tsx'
import { useEditor, useMayChange, usePage } from '../shared/page-context.ts'
import { SaveBar } from './save-bar.tsx'
import { failureText } from '../shared/failure-text.ts'
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
