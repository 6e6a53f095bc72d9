/** One setting: its name and description, its control, and what is news about it. */
import { SettingType } from '@fastify-modular/settings/client'
import type { ReactNode } from 'react'
import { isGroup, isWide, widthOf } from '../controls/controls.tsx'
import { Icon } from '../icons.tsx'
import { type Definition, type Draft, elementId, rowState, splitError } from '../model/setting.ts'
import { useEditor, useMayChange, usePage } from '../page-context.ts'
import { treeOf } from '../tree.ts'
import { RowConflict } from './row-conflict.tsx'
import { RowControl } from './row-control.tsx'
import { RowDescription, RowTime } from './row-description.tsx'
import { RowPills } from './row-pills.tsx'
import { RowTools } from './row-tools.tsx'

interface SettingRowProps {
  readonly definition: Definition
  /** Why a search has found it, where nothing that the row shows says so. */
  readonly reason?: string | undefined
  /** Says the scope, where the group around it has several. */
  readonly isScopeShown?: boolean
}

/** Depends on nothing but its own value and draft. Its control is its first stop for Tab, its tools follow. */
export function SettingRow({ definition, reason, isScopeShown = false }: SettingRowProps): ReactNode {
  const { key, type, unit, min, max } = definition
  const page = usePage()
  const value = useEditor((state) => state.values.get(key))
  const draft = useEditor((state) => state.drafts.get(key))
  const isJustSaved = useEditor((state) => state.saved.has(key))
  const mayChange = useMayChange(definition)
  if (!value) return null

  const id = elementId(page, definition)
  const state = rowState(value, draft)
  const isReadOnly = value.locked || !mayChange
  const hasHint = unit !== null || (type === SettingType.Number && min !== null && max !== null)
  const hasNote = draft !== undefined && (draft.theirs !== undefined || draft.errors.length > 0)
  const described = [
    hasHint && `${id}-u`,
    `${id}-d`,
    `${id}-s`,
    hasNote && `${id}-e`,
    type === SettingType.DateTime && `${id}-t`,
  ]
  const parts = { definition, value, draft }
  return (
    <div
      className={isWide(type) ? 'fm-row is-wide' : 'fm-row'}
      data-key={key}
      data-state={state}
      data-type={type}
      data-saved={isJustSaved || undefined}
      data-readonly={isReadOnly || undefined}
    >
      <div className="fm-about">
        <div className="fm-name">
          <Label id={id} definition={definition} isOfGroup={isGroup(definition, isReadOnly)} />
          <RowPills id={`${id}-s`} {...parts} state={state} reason={reason} isScopeShown={isScopeShown} />
        </div>
        <RowDescription id={`${id}-d`} {...parts} />
      </div>
      <div className={widthOf(definition)}>
        <RowControl {...parts} isReadOnly={isReadOnly} describedBy={described.filter(Boolean).join(' ')} />
      </div>
      <RowTools {...parts} mayChange={mayChange} />
      {!page.editor.isOwn && (
        <code className="fm-key" dir="ltr">
          {key}
        </code>
      )}
      {draft?.theirs ? (
        <RowConflict id={`${id}-e`} definition={definition} theirs={draft.theirs} input={draft.input} />
      ) : (
        hasNote && <Errors id={`${id}-e`} errors={draft.errors} />
      )}
      {type === SettingType.DateTime && <RowTime id={`${id}-t`} {...parts} />}
    </div>
  )
}

interface LabelProps {
  /** Of the control. */
  readonly id: string
  readonly definition: Definition
  /** Several elements make up the control, which the label cannot name then. */
  readonly isOfGroup: boolean
}

function Label({ id, definition, isOfGroup }: LabelProps): ReactNode {
  const { displayName, required } = definition
  if (!isOfGroup) {
    return (
      <label htmlFor={id} className={required ? 'is-required' : undefined} dir="auto">
        {displayName}
      </label>
    )
  }
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- as labels do; keys reach the group itself
    <span
      className="fm-label"
      id={`${id}-l`}
      dir="auto"
      onClick={({ currentTarget }) =>
        treeOf(currentTarget).getElementById(id)?.querySelector('input')?.focus()
      }
    >
      {displayName}
    </span>
  )
}

/** A form shows errors of its parts at its fields. */
function Errors({ id, errors }: { readonly id: string } & Pick<Draft, 'errors'>): ReactNode {
  const isOfParts = errors.every((error) => splitError(error).pointer !== '')
  return (
    <p className={isOfParts ? 'fm-note is-bad is-of-parts' : 'fm-note is-bad'} id={id} dir="auto">
      <Icon name="alert" />
      {errors.join(' ')}
    </p>
  )
}
