/** The settings of a page: those of the open group, or what a search has found. */
import { SettingScope } from '@fastify-modular/settings/client'
import { type ReactNode, useLayoutEffect, useMemo, useRef } from 'react'
import { Button } from '../button.tsx'
import { Icon } from '../icons.tsx'
import { format, type Messages, plural } from '../../texts/messages.ts'
import type { Hit, Reason } from '../model/search.ts'
import { useEditor, useMayChange, usePage } from '../page-context.ts'
import { scopeName } from '../row/row-description.tsx'
import { SettingRow, type SettingRowProps } from '../row/setting-row.tsx'
import { atOnce, type Section, useView } from './use-results.ts'
import { noSearch } from './use-url-state.ts'

export function ResultsList(): ReactNode {
  const { messages, editor } = usePage()
  const phase = useEditor((each) => each.phase)
  const { results, isWhole, showWhole } = useView()
  const { sections, isSearch, definitions, groups } = results

  if (phase === 'loading') return <Skeleton />
  if (phase === 'failed') return <LoadFailure />
  if (definitions.length === 0) return <p className="fm-notice">{messages.empty}</p>
  const isSingle = !isSearch && groups.length === 1 && editor.isOwn
  return (
    <>
      <ReadOnlyNotice sections={sections} />
      {isSearch && <Summary />}
      {sections.map((section) => (
        <SectionCard key={section.group.slug} section={section} isNamed={!isSingle} />
      ))}
      {isSearch && !isWhole && results.count > atOnce && (
        <Button onClick={() => showWhole(true)} text={format(messages.showAll, { count: results.count })} />
      )}
    </>
  )
}

/** Rows of the height of real ones: nothing moves when these come. */
function Skeleton(): ReactNode {
  const { messages } = usePage()
  return (
    <div>
      <p className="fm-hidden" role="status">
        {messages.loading}
      </p>
      <div className="fm-head">
        <span className="fm-bone" />
      </div>
      <div className="fm-card">
        {Array.from({ length: 6 }, (_, index) => (
          <div key={index} className="fm-row">
            <span className="fm-bone" />
          </div>
        ))}
      </div>
    </div>
  )
}

function LoadFailure(): ReactNode {
  const { editor, messages } = usePage()
  const failure = useEditor((state) => state.failure)
  return (
    <div className="fm-notice is-bad" role="alert">
      <Icon name="alert" />
      <p>
        {messages.loadFailed} {failure && failure.status !== 401 && editor.explain(failure)}
      </p>
      <Button onClick={() => void editor.load()} text={messages.tryAgain} />
    </div>
  )
}

function ReadOnlyNotice({ sections }: { readonly sections: readonly Section[] }): ReactNode {
  const { messages, isAdmin } = usePage()
  const mayChange = useMayChange({ scope: SettingScope.Application, canWrite: true })
  const hasSystem = sections.some(({ rows }) =>
    rows.some(({ definition }) => definition.scope === SettingScope.System),
  )
  if (mayChange && (!hasSystem || isAdmin)) return null
  return (
    <p className="fm-notice is-muted">
      <Icon name="lock" />
      <span>{mayChange ? messages.systemReadOnly : messages.readOnly}</span>
    </p>
  )
}

/** How much was found, what was searched for instead, and the ways on. */
function Summary(): ReactNode {
  const { root, messages, locale, reveal } = usePage()
  const { results, url, changeUrl } = useView()
  const { found, count, filtered } = results
  const { isExact } = url
  const { corrected } = found
  const text = url.text.trim()
  const query = corrected !== undefined && !isExact ? corrected : text
  const correction = corrected !== undefined && (
    <Button
      look="link"
      onClick={() => changeUrl({ isExact: !isExact })}
      text={
        isExact
          ? format(messages.didYouMean, { query: corrected })
          : format(messages.searchExactly, { query: text })
      }
    />
  )
  if (count === 0) {
    return (
      <div className="fm-empty">
        <p>{text ? format(messages.noMatch, { query: text }) : messages.noneLeft}</p>
        {found.nearest.length > 0 && filtered === 0 && (
          <p>
            {messages.nearest}{' '}
            {found.nearest.map(({ key, displayName }) => (
              <Button key={key} look="link" dir="auto" onClick={() => reveal(key)} text={displayName} />
            ))}
          </p>
        )}
        {correction}
        <Button
          onClick={() => {
            root.current?.querySelector<HTMLElement>('[role=searchbox]')?.focus() // this button goes
            changeUrl(noSearch)
          }}
          text={messages.clearSearch}
        />
      </div>
    )
  }
  return (
    <p className="fm-small fm-summary">
      {query
        ? plural(messages.resultsFor, count, locale, { query })
        : plural(messages.results, count, locale)}
      {correction}
      {filtered > 0 && text !== '' && (
        <Button
          look="link"
          onClick={() => changeUrl({ only: [] })}
          text={plural(messages.withoutFilter, filtered, locale)}
        />
      )}
    </p>
  )
}

interface SectionCardProps {
  readonly section: Section
  readonly isNamed: boolean
}

/** One group, or what was found of it. */
function SectionCard({ section, isNamed }: SectionCardProps): ReactNode {
  const { editor, messages } = usePage()
  const stale = useEditor((state) => state.stale)
  const { results, changeUrl } = useView()
  const { isSearch } = results
  const { group, rows } = section
  const names = [...new Set(group.definitions.map((definition) => scopeName(definition, messages)))]
  const isMixed = names.length > 1 && !editor.isOwn
  const isPlain = isSearch || editor.isOwn
  // Found settings are all in view: whether they are for experts, their group page says.
  const common = isPlain ? rows : rows.filter(({ definition }) => !definition.advanced)
  const advanced = isPlain ? [] : rows.filter(({ definition }) => definition.advanced)
  return (
    <section aria-label={group.name}>
      {isNamed && (
        <div className={isPlain ? 'fm-head is-small' : 'fm-head'}>
          <h2>
            {isSearch ? (
              <Button
                look="link"
                onClick={() => changeUrl({ ...noSearch, group: group.slug }, true)}
                text={group.name}
              />
            ) : (
              <span dir="auto">{group.name}</span>
            )}
            {!isMixed && !editor.isOwn && <span className="fm-pill is-muted">{names[0]}</span>}
          </h2>
          {!editor.isOwn && stale && <p className="fm-small fm-stale">{stale}</p>}
        </div>
      )}
      <div className="fm-card">
        <Rows rows={common} isMixed={isMixed} />
        {advanced.length > 0 && <Advanced rows={advanced} isMixed={isMixed} />}
      </div>
    </section>
  )
}

interface RowsProps {
  readonly rows: readonly Hit[]
  readonly isMixed: boolean
}

/** Why a setting was found, as the keys of messages. */
const reasons = {
  keyword: 'alsoCalled',
  option: 'hasOption',
  key: 'hasKey',
} as const satisfies Record<Reason['kind'], keyof Messages>

function Rows({ rows, isMixed }: RowsProps): ReactNode {
  const { messages } = usePage()
  return rows.map(({ definition, reason }) => (
    <StillRow
      key={definition.key}
      definition={definition}
      reason={reason && format(messages[reasons[reason.kind]], { text: reason.text })}
      isScopeShown={isMixed && definition.scope === SettingScope.System}
    />
  ))
}

/** The same element again is not rendered again, whatever the search does. */
function StillRow(props: SettingRowProps): ReactNode {
  return useMemo(() => <SettingRow {...props} />, [props.definition, props.reason, props.isScopeShown])
}

/** Opened by the user, by a link, and by what is unsaved; closed by the user only. */
function Advanced({ rows, isMixed }: RowsProps): ReactNode {
  const { messages, locale } = usePage()
  const hasDraft = useEditor(({ drafts }) => rows.some(({ definition }) => drafts.has(definition.key)))
  const details = useRef<HTMLDetailsElement>(null)
  useLayoutEffect(() => {
    if (hasDraft) details.current?.setAttribute('open', '')
  }, [hasDraft])
  return (
    <details ref={details}>
      <summary>
        <Icon name="chevron" />
        {plural(messages.advanced, rows.length, locale)}
      </summary>
      <Rows rows={rows} isMixed={isMixed} />
    </details>
  )
}
