/** What a row says about a setting besides its name: what is news, what there is to know, which instant a date-time is, which shade of an accent is shown. */
import { SettingScope, SettingType } from '@fastify-modular/settings/client'
import { type ComponentChildren, Fragment } from 'preact'
import { accentShades } from '../../accent.ts'
import type { RowParts } from '../controls/control-props.ts'
import { format, formatNamed, type Messages } from '../../texts/messages.ts'
import { Icon } from '../icons.tsx'
import type { News } from '../model/editor-state.ts'
import { toInput } from '../model/input.ts'
import { type Definition, displayValue, isStale, type RowState, type SettingValue } from '../model/setting.ts'
import { relativeTime, zoneName } from '../model/times.ts'
import { NewsFace, NewsText } from '../others/news-text.tsx'
import { useEditor, usePage } from '../page-context.ts'
import { treeOf } from '../tree.ts'
import { useExternal } from '../use-external.ts'

interface PartsProps extends RowParts {
  readonly id: string
}

/** One paragraph, each sentence in the direction of its own language. */
export function RowDescription({ id, definition, value, draft }: PartsProps): ComponentChildren {
  const { editor, messages, canUpdate, tenant } = usePage()
  const { description, sensitive, scope, restart, docsUrl, displayName } = definition
  const inherited = value.inheritedValue
  const { canWrite = definition.canWrite } = value
  const isBarred = canUpdate && !editor.isOwn && !canWrite && definition.writePermission !== null
  const permissionText = isBarred && format(messages.writeNeeds, { permission: definition.writePermission })
  const isInheritedShown =
    !editor.isShared && !sensitive && inherited != null && (value.isOverridden || draft)
  const inheritedText = (shown: string): string =>
    tenant && value.inheritedSource === 'tenant'
      ? formatNamed(messages.tenantValue, messages.tenantValueUnnamed, tenant, { value: shown })
      : format(messages.inherited, { value: shown })
  const facts = [
    description,
    lockTextOf(definition, value, messages, canUpdate),
    !value.locked && permissionText,
    isStale(value) && messages.staleValue,
    restart && messages.restart,
    editor.isShared && scope === SettingScope.User && messages.forUsers,
    isInheritedShown && inheritedText(displayValue(definition, inherited, messages)),
  ].filter(Boolean)
  const isLinked = docsUrl !== null && !editor.isShared
  if (facts.length === 0 && !isLinked) return null
  return (
    <p className="fm-small" id={id}>
      {facts.map((fact) => (
        <Fragment key={String(fact)}>
          <bdi>{fact}</bdi>{' '}
        </Fragment>
      ))}
      {isLinked && (
        <a href={docsUrl} target="_blank" rel="noreferrer">
          {messages.documentation}
          <span className="fm-hidden"> {displayName}</span>
        </a>
      )}
    </p>
  )
}

/** Which instant a date-time is: its zone and its distance from now; the tooltip has what is stored. */
export function RowTime({ id, definition, value, draft }: PartsProps): ComponentChildren {
  const { locale } = usePage()
  const entered = String(draft?.input ?? toInput(definition, value.value))
  const date = new Date(entered)
  if (Number.isNaN(date.getTime()) || definition.sensitive) return null
  const stored = typeof value.value === 'string' && !draft ? value.value : undefined
  return (
    <p className="fm-note fm-small" id={id} title={stored} dir="auto">
      {zoneName(date)} · {relativeTime(date, locale)}
    </p>
  )
}

/** Below an accent: the shade in which people can read, where the page shows another one than was entered. */
export function ShadeNote({ color }: { readonly color: string }): ComponentChildren {
  const { messages } = usePage()
  const isDark = useIsDark()
  const shade = accentShades(color)[isDark ? 'dark' : 'light']
  // While it is typed it is no colour yet.
  if (shade === '' || shade === color) return null
  return (
    <p className="fm-note fm-line fm-small">
      <Icon name="check" />
      {format(messages.shadeAdjusted, { color: `\u2066${shade}\u2069` })}
    </p>
  )
}

/** What has a scheme whatever the device prefers. */
const fixed = ':is([data-theme=light], [data-theme=dark])'

/** Whether the page is shown in its dark scheme. Asking for computed styles would lay the page out for each colour of a drag. */
function useIsDark(): boolean {
  const { root } = usePage()
  return useExternal(observe, () => {
    const tree = treeOf(root.current)
    const around = tree instanceof ShadowRoot ? tree.host : document.documentElement
    const themed = root.current?.closest(fixed) ?? around.closest(fixed)
    return themed?.matches('[data-theme=dark]') ?? matchMedia('(prefers-color-scheme: dark)').matches
  })
}

/** Calls when the document gets another scheme. */
function observe(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => observer.disconnect()
}

const lockNames = { option: 'overrides', environment: 'SM_SETTINGS_OVERRIDES' } as const

/** What locks a value; only callers who may change settings learn the name, and of a variable who may write this one. */
function lockTextOf(
  { env }: Definition,
  { locked, lockedBy }: SettingValue,
  messages: Messages,
  canUpdate: boolean,
): string | false {
  if (!locked) return false
  const source = lockedBy === 'variable' ? env : lockedBy && lockNames[lockedBy]
  return canUpdate && source ? format(messages.lockedBy, { source }) : messages.lockedHint
}

interface Pill {
  readonly text: ComponentChildren
  readonly kind?: 'bad' | 'good' | 'muted' | 'warn' | undefined
  readonly icon?: 'check' | 'key' | 'lock' | 'users'
  /** In place of an icon. */
  readonly face?: ComponentChildren
}

interface RowPillsProps extends PartsProps {
  readonly state: RowState
  readonly reason: string | undefined
  readonly isScopeShown: boolean
  readonly news: News | undefined
  readonly notice: ComponentChildren
}

export function RowPills(props: RowPillsProps): ComponentChildren {
  const { id, definition, value, draft, news, notice, reason, isScopeShown } = props
  const { editor, messages, tenant } = usePage()
  const winner = useEditor(({ own }) => own?.get(definition.key))
  const isJustSaved = useEditor((state) => editor.isOwn && state.saved.has(definition.key))
  const pill = usePill(props, isJustSaved)
  const ownValue =
    winner === 'tenant' && tenant
      ? formatNamed(messages.tenantOwnValue, messages.tenantOwnValueUnnamed, tenant)
      : messages.ownValue
  return (
    <>
      <span id={id} className={pill ? `fm-pill ${pill.kind ? `is-${pill.kind}` : ''}` : 'fm-hidden'}>
        {pill?.icon ? <Icon name={pill.icon} /> : pill?.face}
        {pill ? (
          // The parts of news have directions of their own.
          <span dir={news ? undefined : 'auto'}>{pill.text}</span>
        ) : (
          value.isOverridden && messages.overridden
        )}
      </span>
      {!draft && notice}
      {isScopeShown && <span className="fm-pill is-muted">{messages.system}</span>}
      {draft && winner && (
        <span className="fm-pill is-muted">
          <span dir="auto">{ownValue}</span>
        </span>
      )}
      {reason !== undefined && (
        <span className="fm-pill is-muted fm-alias">
          <Icon name="search" />
          <span dir="auto">{reason}</span>
        </span>
      )}
    </>
  )
}

/** The default is no news; a change is shown by the edge and by ↺. */
function usePill(
  { definition, value, draft, state, news }: RowPillsProps,
  isJustSaved: boolean,
): Pill | null {
  const { editor, messages, tenant } = usePage()
  if (draft) {
    const text = editor.isOwn ? messages.notSaved : unsavedText(definition, value, messages)
    return { text, kind: draft.theirs ? 'warn' : state === 'invalid' ? 'bad' : undefined }
  }
  if (isStale(value)) return { text: messages.invalid, kind: 'bad' }
  if (isJustSaved) return { text: messages.savedNow, kind: 'good', icon: 'check' }
  if (news) {
    const face = news.by !== null && <NewsFace id={news.by} />
    return { text: <NewsText definition={definition} value={value} news={news} />, kind: 'good', face }
  }
  if (value.locked) return { text: messages.locked, kind: 'muted', icon: 'lock' }
  if (definition.sensitive) return { text: messages.secret, kind: 'muted', icon: 'key' }
  if (!tenant || !editor.isOwn || value.source !== 'tenant') return null
  const from = formatNamed(messages.fromTenant, messages.fromTenantUnnamed, tenant)
  return { text: from, kind: 'muted', icon: 'users' }
}

function unsavedText(definition: Definition, { value }: SettingValue, messages: Messages): string {
  if (definition.sensitive || definition.type === SettingType.Json) return messages.unsaved
  return format(messages.unsavedWas, { value: displayValue(definition, value, messages) })
}
