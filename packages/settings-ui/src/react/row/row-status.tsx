/** What there is to know about a setting's value, in words. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import type { Messages } from '../messages/messages.ts'
import { zoneName } from '../model/date-time.ts'
import { displayRange, displayTime, displayValue } from '../model/display-value.ts'
import { SettingScope, SettingType } from '@fastify-modular/settings/client'
import { type Definition, type Draft, isStale, type RowState, type SettingValue } from '../model/setting.ts'
import { usePage } from '../page/page-context.ts'

interface RowStatusProps {
  readonly id: string
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
  readonly state: RowState
}

export function RowStatus({ id, definition, value, draft, state }: RowStatusProps): ReactNode {
  const { editor, messages, locale } = usePage()
  const facts = factsOf(definition, value, draft, editor.isOwn, messages)
  return (
    <p className="fm-status" id={id}>
      <span className="fm-badge">{badgeOf(state, definition, value, messages)}</span>
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
      {value.updatedAt && <LastChange value={value} messages={messages} locale={locale} />}
    </p>
  )
}

function badgeOf(
  state: RowState,
  { sensitive }: Definition,
  { locked }: SettingValue,
  messages: Messages,
): string {
  const badges = {
    default: sensitive ? messages.secretNotSet : messages.isDefault,
    overridden: messages.isOverridden,
    locked: messages.isLocked,
    unsaved: messages.isUnsaved,
    invalid: messages.isInvalid,
    conflict: messages.isConflict,
  }
  return locked ? messages.isLocked : badges[state]
}

function factsOf(
  definition: Definition,
  value: SettingValue,
  draft: Draft | undefined,
  isOwn: boolean,
  messages: Messages,
): string[] {
  const { type, sensitive, scope } = definition
  const facts = [
    type === SettingType.Number ? displayRange(definition, messages) : undefined,
    type === SettingType.DateTime && !sensitive
      ? format(messages.timeZone, { zone: zoneName(typeof value.value === 'string' ? value.value : null) })
      : undefined,
    type === SettingType.DateTime && typeof value.value === 'string' ? value.value : undefined,
    draft && !sensitive ? format(messages.was, { value: displayValue(value.value, messages) }) : undefined,
    value.locked ? messages.lockedHint : undefined,
    isStale(value) ? messages.staleValue : undefined,
    !isOwn && scope === SettingScope.User ? messages.forUsers : undefined,
    isOwn && !sensitive && value.inheritedValue !== undefined && value.inheritedValue !== null
      ? format(messages.inherited, { value: displayValue(value.inheritedValue, messages) })
      : undefined,
  ]
  return facts.filter((fact) => fact !== undefined)
}

interface LastChangeProps {
  readonly value: SettingValue
  readonly messages: Messages
  readonly locale: string
}

function LastChange({ value, messages, locale }: LastChangeProps): ReactNode {
  const { updatedAt, updatedBy } = value
  if (updatedAt === null) return null
  const time = displayTime(updatedAt, locale)
  return (
    <time dateTime={updatedAt}>
      {updatedBy === null
        ? format(messages.lastChangedBySomebody, { time })
        : format(messages.lastChanged, { name: updatedBy, time })}
    </time>
  )
}
