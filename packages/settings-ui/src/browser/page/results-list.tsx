/** The settings of a page: those of the open group, or what a search has found. */
import { SettingScope } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { Button } from '../button.tsx'
import { Drawing, Icon } from '../icons.tsx'
import { format, plural } from '../../texts/messages.ts'
import type { Hit } from '../model/search.ts'
import { Recent } from '../others/news-text.tsx'
import { useEditor, useMayChange, usePage } from '../page-context.ts'
import { SettingRow, type SettingRowProps } from '../row/setting-row.tsx'
import { morePart, tenantPart, usePart } from '../use-more.ts'
import { atOnce, type Section, useView } from '../view/use-results.ts'
import { noSearch } from '../view/use-url-state.ts'

export function ResultsList(): ComponentChildren {
  const { messages, editor, isDevelopment = false } = usePage()
  const phase = useEditor((each) => each.phase)
  const { results, isWhole, showWhole } = useView()
  const { sections, isSearch, definitions, groups } = results

  const hasOpen = useEditor(({ open }) => open.length > 0)
  const more = usePart(morePart, hasOpen || (isDevelopment && phase === 'ready' && definitions.length === 0))

  const ofTenant = usePart(tenantPart, phase === 'elsewhere')

  if (phase === 'elsewhere') return <Bones>{ofTenant && <ofTenant.Elsewhere />}</Bones>
  if (phase === 'loading' || results.isPending) return <Loading />
  if (phase === 'failed') return <LoadFailure />
  if (definitions.length === 0)
    return more && isDevelopment ? <more.FirstSteps /> : <p className="fm-notice fm-line">{messages.empty}</p>
  const isSingle = !isSearch && groups.length === 1 && !editor.isShared
  return (
    <>
      <ReadOnlyNotice sections={sections} />
      {more && <more.OpenChanges sections={isSearch ? [] : sections} />}
      {isSearch && <Summary />}
      {sections.map((section) => (
        <SectionCard
          key={section.group.slug}
          section={section}
          isNamed={section.group.name !== '' && !isSingle}
          notice={more && !isSearch && <more.OpenChanges sections={sections} section={section} />}
        />
      ))}
      {isSearch && !isWhole && results.count > atOnce && (
        <Button onClick={() => showWhole(true)} text={format(messages.showAll, { count: results.count })} />
      )}
    </>
  )
}

function Loading(): ComponentChildren {
  const { messages } = usePage()
  return (
    <Bones>
      <p className="fm-hidden" role="status">
        {messages.loading}
      </p>
    </Bones>
  )
}

/** Rows of the height of real ones: nothing moves when these come. */
function Bones({ children }: { readonly children: ComponentChildren }): ComponentChildren {
  return (
    <div>
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
      {children}
    </div>
  )
}

function LoadFailure(): ComponentChildren {
  const { editor, messages } = usePage()
  const failure = useEditor((state) => state.failure)
  return (
    <div className="fm-notice fm-line is-bad" role="alert">
      <Icon name="alert" />
      <p>
        {messages.loadFailed} {failure && failure.status !== 401 && editor.explain(failure)}
      </p>
      <Button onClick={() => void editor.load()} text={messages.tryAgain} />
    </div>
  )
}

function ReadOnlyNotice({ sections }: { readonly sections: readonly Section[] }): ComponentChildren {
  const { messages, isAdmin } = usePage()
  const mayChange = useMayChange({ scope: SettingScope.Application, canWrite: true })
  const hasSystem = sections.some(({ rows }) =>
    rows.some(({ definition }) => definition.scope === SettingScope.System),
  )
  if (mayChange && (!hasSystem || isAdmin)) return null
  return (
    <p className="fm-notice fm-line is-muted">
      <Icon name="lock" />
      <span>{mayChange ? messages.systemReadOnly : messages.readOnly}</span>
    </p>
  )
}

/** How much was found, what was searched for instead, and the ways on. */
function Summary(): ComponentChildren {
  const { root, editor, messages, locale } = usePage()
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
              <Button
                key={key}
                look="link"
                dir="auto"
                onClick={() => editor.reveal(key)}
                text={displayName}
              />
            ))}
          </p>
        )}
        {isExact && correction}
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
  /** Stands above its settings. */
  readonly notice: ComponentChildren
}

/** One group, or what was found of it. */
function SectionCard({ section, isNamed, notice }: SectionCardProps): ComponentChildren {
  const { editor, messages, groups = {} } = usePage()
  const stale = useEditor((state) => state.stale)
  const { results, changeUrl } = useView()
  const { isSearch } = results
  const { group, rows } = section
  const isSystem = group.definitions.every(({ scope }) => scope === SettingScope.System)
  const isPlain = isSearch || !editor.isShared || group.name === ''
  const { icon, description, action } = isPlain ? {} : (groups[group.group ?? ''] ?? {})
  const tested = isPlain ? [] : [...new Set(group.definitions.flatMap(({ probe }) => probe ?? []))]
  // Found settings, and named ones, are all in view: whether they are for experts, their group page says.
  const advanced = isPlain ? [] : rows.filter(({ definition }) => definition.advanced)
  // A fold of one row takes its place.
  const folded = advanced.length > 1 ? advanced : []
  return (
    <section aria-label={group.name || undefined} part="group">
      {isNamed && (
        <div className={isPlain ? 'fm-head is-small' : 'fm-head'}>
          {icon && (
            <span className="fm-mark">
              <Drawing path={icon} />
            </span>
          )}
          <h2 className="fm-line">
            {isSearch ? (
              <Button
                look="link"
                onClick={() => changeUrl({ ...noSearch, group: group.slug }, true)}
                text={group.name}
              />
            ) : (
              <span dir="auto">{group.name}</span>
            )}
            {isSystem && <span className="fm-pill is-muted">{messages.system}</span>}
          </h2>
          {description && (
            <p className="fm-small" dir="auto">
              {description}
            </p>
          )}
          {(action || tested.length > 0) && (
            <div className="fm-buttons fm-line">
              {action && (
                <a className="fm-button" href={action.href}>
                  <Icon name="open" />
                  <span dir="auto">{action.label}</span>
                </a>
              )}
              {tested.map((resource) => (
                <TestButton
                  key={resource}
                  resource={resource}
                  group={group.name}
                  isOnly={tested.length === 1}
                />
              ))}
            </div>
          )}
          {stale && !editor.isOwn ? <p className="fm-small fm-aside is-stale">{stale}</p> : <Recent />}
        </div>
      )}
      {notice}
      <div className="fm-card">
        <Rows rows={rows.filter((row) => !folded.includes(row))} isSystem={isSystem} />
        {folded.length > 0 && <Advanced rows={folded} isSystem={isSystem} />}
      </div>
    </section>
  )
}

interface TestButtonProps {
  readonly resource: string
  readonly group: string
  /** The group has no other one. */
  readonly isOnly: boolean
}

/** It keeps the focus while the test runs. */
function TestButton({ resource, group, isOnly }: TestButtonProps): ComponentChildren {
  const page = usePage()
  const { editor, messages } = page
  const isRunning = useEditor(({ message }) => message?.kind === 'busy')
  const run = (): void =>
    void morePart.load().then(
      (more) => more.testResource(page, resource, group),
      () => editor.say({ kind: 'bad', text: messages.unreachable }),
    )
  return (
    <Button
      icon={isRunning ? 'ring' : 'plug'}
      aria-disabled={isRunning || undefined}
      onClick={() => isRunning || run()}
      text={(isRunning ? messages.testing : messages.test) + (isOnly ? '' : ` ${resource}`)}
    />
  )
}

interface RowsProps {
  readonly rows: readonly Hit[]
  /** The group says that it is of the system: its rows need not. */
  readonly isSystem: boolean
}

function Rows({ rows, isSystem }: RowsProps): ComponentChildren {
  const open = useEditor((state) => state.open)
  const more = usePart(morePart, open.length > 0)
  const waiting = new Set(open.flatMap(({ entries }) => entries.map(({ key }) => key)))
  return rows.map(({ definition, reason }) => (
    <StillRow
      key={definition.key}
      definition={definition}
      reason={reason}
      isScopeShown={!isSystem && definition.scope === SettingScope.System}
      notice={more && waiting.has(definition.key) ? <more.OpenPill definition={definition} /> : undefined}
    />
  ))
}

/** The same element again is not rendered again, whatever the search does. */
function StillRow(props: SettingRowProps): ComponentChildren {
  return useMemo(
    () => <SettingRow {...props} />,
    [props.definition, props.reason, props.isScopeShown, props.notice],
  )
}

/** Opened by the user, by a link, and by what is unsaved; closed by the user only. */
function Advanced({ rows, isSystem }: RowsProps): ComponentChildren {
  const { messages, locale } = usePage()
  const hasDraft = useEditor(({ drafts }) => rows.some(({ definition }) => drafts.has(definition.key)))
  const details = useRef<HTMLDetailsElement>(null)
  useLayoutEffect(() => {
    if (hasDraft) details.current?.setAttribute('open', '')
  }, [hasDraft])
  return (
    <details ref={details}>
      <summary className="fm-line">
        <Icon name="chevron" />
        {plural(messages.advanced, rows.length, locale)}
      </summary>
      <Rows rows={rows} isSystem={isSystem} />
    </details>
  )
}
