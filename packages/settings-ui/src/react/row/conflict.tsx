/** Somebody else has changed the setting: both values, and the choice. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import { displayTime, displayValue } from '../model/display-value.ts'
import type { Definition, SettingValue } from '../model/setting.ts'
import { usePage } from '../shared/page-context.ts'

interface ConflictProps {
  /** Of the text, which describes the control. */
  readonly id: string
  readonly definition: Definition
  readonly theirs: SettingValue
}

export function Conflict({ id, definition, theirs }: ConflictProps): ReactNode {
  const { editor, messages, locale } = usePage()
  const { key } = definition
  const text = format(messages.theirs, {
    name: theirs.updatedBy ?? messages.somebody,
    time: displayTime(theirs.updatedAt ?? new Date().toISOString(), locale),
    value: displayValue(definition, theirs.value, messages),
  })
  return (
    <div className="fm-conflict" role="group" aria-label={messages.conflict}>
      <p id={id}>{text}</p>
      <button type="button" onClick={() => editor.undo(key)}>
        {messages.useTheirs}
      </button>
      <button type="button" onClick={() => editor.keepMine(key)}>
        {messages.keepMine}
      </button>
    </div>
  )
}
