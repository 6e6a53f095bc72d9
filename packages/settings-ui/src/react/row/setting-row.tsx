/** One setting: what it is, its control, and what there is to know and to do. */
import type { ReactNode } from 'react'
import { type Definition, elementId, rowState } from '../model/setting.ts'
import { useEditor, useMayChange, usePage } from '../shared/page-context.ts'
import { Conflict } from './conflict.tsx'
import { Control } from './control.tsx'
import { isWide } from '../controls/controls.tsx'
import { RowActions } from './row-actions.tsx'
import { RowStatus } from './row-status.tsx'

/** Looks at nothing but its own value and draft. */
export function SettingRow({ definition }: { readonly definition: Definition }): ReactNode {
  const { key, displayName, description, required, type, unit, docsUrl, tags } = definition
  const page = usePage()
  const { messages } = page
  const value = useEditor((state) => state.values.get(key))
  const draft = useEditor((state) => state.drafts.get(key))
  const mayChange = useMayChange(definition)
  if (!value) return null

  const id = elementId(page, definition)
  const state = rowState(value, draft)
  const parts = { definition, value, draft }
  const errors = draft?.errors ?? []
  const hasTrouble = draft && (draft.theirs || errors.length > 0)
  const described = [unit && `${id}-u`, description && `${id}-d`, `${id}-s`, hasTrouble && `${id}-e`]
  return (
    <div
      className={isWide(type) ? 'fm-row fm-wide' : 'fm-row'}
      data-key={key}
      data-state={state}
      data-type={type}
      {...(value.isOverridden && { 'data-overridden': '' })}
    >
      <div className="fm-about">
        <label htmlFor={id} className={required ? 'fm-name fm-required' : 'fm-name'}>
          {displayName}
        </label>
        <code dir="ltr">{key}</code>
        {description && <p id={`${id}-d`}>{description}</p>}
        {docsUrl && (
          <a href={docsUrl} target="_blank" rel="noreferrer">
            {messages.documentation}
            <span className="fm-hidden"> {displayName}</span>
          </a>
        )}
        {tags.length > 0 && <p>{tags.map((tag) => `tag:${tag}`).join(' ')}</p>}
      </div>
      <div className="fm-value">
        <Control
          {...parts}
          isReadOnly={value.locked || !mayChange}
          describedBy={described.filter(Boolean).join(' ')}
        />
        {draft?.theirs ? (
          <Conflict id={`${id}-e`} definition={definition} theirs={draft.theirs} />
        ) : (
          hasTrouble && (
            <p className="fm-error" id={`${id}-e`}>
              {errors.join(' ')}
            </p>
          )
        )}
        <div className="fm-foot">
          <RowStatus {...parts} id={`${id}-s`} state={state} />
          <RowActions {...parts} mayChange={mayChange} />
        </div>
      </div>
    </div>
  )
}
