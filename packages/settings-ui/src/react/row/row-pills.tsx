/** What is news about a setting, on the line of its name: a state never changes the height of a row. */
import { SettingScope, SettingType } from '@fastify-modular/settings/client'
import type { ReactNode } from 'react'
import { Icon } from '../icons.tsx'
import { format, type Messages } from '../../texts/messages.ts'
import {
  type Definition,
  displayValue,
  type Draft,
  type RowState,
  type SettingValue,
} from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'

interface Pill {
  readonly text: string
  readonly kind?: 'bad' | 'good' | 'muted' | 'warn' | undefined
  readonly icon?: 'check' | 'key' | 'lock'
}

interface RowPillsProps {
  readonly id: string
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
  readonly state: RowState
  readonly reason: string | undefined
  readonly isScopeShown: boolean
}

export function RowPills(props: RowPillsProps): ReactNode {
  const { id, definition, value, reason, isScopeShown } = props
  const { editor, messages } = usePage()
  const isJustSaved = useEditor((state) => editor.isOwn && state.saved.has(definition.key))
  const pill = usePill(props, isJustSaved)
  return (
    <>
      <span id={id} className={pill ? `fm-pill ${pill.kind ? `is-${pill.kind}` : ''}` : 'fm-hidden'}>
        {pill?.icon && <Icon name={pill.icon} />}
        {pill ? <span dir="auto">{pill.text}</span> : value.isOverridden && messages.overridden}
      </span>
      {isScopeShown && <span className="fm-pill is-muted">{scopeName(definition, messages)}</span>}
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
function usePill({ definition, value, draft, state }: RowPillsProps, isJustSaved: boolean): Pill | null {
  const { editor, messages } = usePage()
  if (draft) {
    const text = editor.isOwn ? messages.notSaved : unsavedText(definition, value, messages)
    return { text, kind: draft.theirs ? 'warn' : state === 'invalid' ? 'bad' : undefined }
  }
  if (state === 'invalid') return { text: messages.invalid, kind: 'bad' }
  if (isJustSaved) return { text: messages.savedNow, kind: 'good', icon: 'check' }
  if (value.locked) return { text: messages.locked, kind: 'muted', icon: 'lock' }
  return definition.sensitive ? { text: messages.secret, kind: 'muted', icon: 'key' } : null
}

function unsavedText(definition: Definition, { value }: SettingValue, messages: Messages): string {
  if (definition.sensitive || definition.type === SettingType.Json) return messages.unsaved
  return format(messages.unsavedWas, { value: displayValue(definition, value, messages) })
}

/** Application defaults of User settings stand among the application's own. */
export function scopeName({ scope }: Pick<Definition, 'scope'>, messages: Messages): string {
  return scope === SettingScope.System ? messages.system : messages.application
}
