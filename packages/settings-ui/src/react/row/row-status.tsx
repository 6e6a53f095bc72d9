/** What there is to know about a setting's value, in words. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import type { Messages } from '../messages/messages.ts'
import { zoneName } from '../model/date-time.ts'
import { displayRange, displayTime, displayValue } from '../model/display-value.ts'
import { SettingScope, SettingType } from '@fastify-modular/settings/client'
import { type Definition, type Draft, isStale, type RowState, type SettingValue } from '../model/setting.ts'
import { usePage } from '../shared/page-context.ts'

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
      <span className="fm-badge">{messages[badgeOf(state, definition, value, editor.isOwn)]}</span>
      {facts.map((fact) => fact && <span key={fact}>{fact}</span>)}
      {value.updatedAt && (
        <time dateTime={value.updatedAt}>
          {format(value.updatedBy ? messages.lastChanged : messages.lastChangedBySomebody, {
            name: value.updatedBy ?? '',
            time: displayTime(value.updatedAt, locale),
          })}
        </time>
      )}
    </p>
  )
}

function badgeOf(
  state: RowState,
  { sensitive }: Definition,
  { locked }: SettingValue,
  isOwn: boolean,
): RowState | 'secretNotSet' | 'ownChoice' {
  if (locked) return 'locked'
  if (sensitive && state === 'default') return 'secretNotSet'
  return isOwn && state === 'overridden' ? 'ownChoice' : state
}

function factsOf(
  definition: Definition,
  stored: SettingValue,
  draft: Draft | undefined,
  isOwn: boolean,
  messages: Messages,
): (string | false | null | undefined)[] {
  const { type, sensitive, scope, restart } = definition
  const { value, inheritedValue, locked } = stored
  const show = (text: string, shown = value): string =>
    format(text, { value: displayValue(definition, shown, messages) })
  const isTime = type === SettingType.DateTime && !sensitive
  const time = isTime && typeof value === 'string' ? value : null
  return [
    type === SettingType.Number && displayRange(definition, messages),
    isTime && format(messages.timeZone, { zone: zoneName(time) }),
    time,
    draft && !sensitive && show(messages.was),
    locked && messages.lockedHint,
    isStale(stored) && messages.staleValue,
    restart && messages.restart,
    !isOwn && scope === SettingScope.User && messages.forUsers,
    isOwn && !sensitive && inheritedValue != null && show(messages.inherited, inheritedValue),
  ]
}
