/** What there is to know about a setting and its value, below its name. */
import { SettingScope } from '@fastify-modular/settings/client'
import { Fragment, type ReactNode } from 'react'
import { format, type Messages } from '../../texts/messages.ts'
import { relativeTime, toInput, zoneName } from '../model/input.ts'
import { type Definition, displayValue, type Draft, isStale, type SettingValue } from '../model/setting.ts'
import { usePage } from '../page-context.ts'

export interface RowParts {
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
}

interface PartsProps extends RowParts {
  readonly id: string
}

/** One paragraph, each sentence in the direction of its own language. */
export function RowDescription({ id, definition, value, draft }: PartsProps): ReactNode {
  const { editor, messages, canUpdate } = usePage()
  const { description, sensitive, scope, restart, docsUrl, displayName } = definition
  const inherited = value.inheritedValue
  const isInheritedShown = editor.isOwn && !sensitive && inherited != null && (value.isOverridden || draft)
  const facts = [
    description,
    lockTextOf(value, messages, canUpdate),
    isStale(value) && messages.staleValue,
    restart && messages.restart,
    !editor.isOwn && scope === SettingScope.User && messages.forUsers,
    isInheritedShown && format(messages.inherited, { value: displayValue(definition, inherited, messages) }),
  ].filter(Boolean)
  const isLinked = docsUrl !== null && editor.isOwn
  if (facts.length === 0 && !isLinked) return null
  return (
    <p id={id}>
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
export function RowTime({ id, definition, value, draft }: PartsProps): ReactNode {
  const { locale } = usePage()
  const entered = String(draft?.input ?? toInput(definition, value.value))
  const date = new Date(entered)
  if (Number.isNaN(date.getTime()) || definition.sensitive) return null
  const stored = typeof value.value === 'string' && !draft ? value.value : undefined
  return (
    <p className="fm-note" id={id} title={stored} dir="auto">
      {zoneName(date)} · {relativeTime(date, locale)}
    </p>
  )
}

const lockNames = { option: 'overrides', environment: 'SM_SETTINGS_OVERRIDES' } as const

/** What locks a value; only callers who may change settings learn the name. */
function lockTextOf(
  { locked, lockedBy }: SettingValue,
  messages: Messages,
  canUpdate: boolean,
): string | false {
  if (!locked) return false
  return canUpdate && lockedBy
    ? format(messages.lockedBy, { source: lockNames[lockedBy] })
    : messages.lockedHint
}
