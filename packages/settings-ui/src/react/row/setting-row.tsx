/** One setting: what it is, its control, and what there is to know and to do. */
import type { ReactNode } from 'react'
import { toInput } from '../model/input.ts'
import { type Definition, elementId, rowState } from '../model/setting.ts'
import { useEditor, useMayChange, usePage } from '../page/page-context.ts'
import { Conflict } from './conflict.tsx'
import { Control, isWide } from './control.tsx'
import { RowActions } from './row-actions.tsx'
import { RowStatus } from './row-status.tsx'

/** Looks at nothing but its own value and draft. */
export function SettingRow({ definition }: { readonly definition: Definition }): ReactNode {
  const { editor } = usePage()
  const { key, displayName, description, required } = definition
  const value = useEditor((state) => state.values.get(key))
  const draft = useEditor((state) => state.drafts.get(key))
  const mayChange = useMayChange(definition)
  if (!value) return null

  const id = elementId(definition)
  const state = rowState(value, draft)
  const errors = draft?.errors ?? []
  const described = [
    description && `${id}-d`,
    `${id}-s`,
    draft && (draft.theirs || errors.length > 0) && `${id}-e`,
  ]
  return (
    <div
      className={isWide(definition) ? 'fm-row fm-wide' : 'fm-row'}
      id={`setting:${key}`}
      data-key={key}
      data-state={state}
      data-type={definition.type}
      {...(value.isOverridden && { 'data-overridden': '' })}
    >
      <div className="fm-about">
        <label htmlFor={id} className={required ? 'fm-name fm-required' : 'fm-name'}>
          {displayName}
        </label>
        <code dir="ltr">{key}</code>
        {description && <p id={`${id}-d`}>{description}</p>}
      </div>
      <div className="fm-value">
        <Control
          definition={definition}
          id={id}
          input={draft?.input ?? toInput(definition, value.value)}
          isSet={value.isOverridden || value.locked}
          isReadOnly={value.locked || !mayChange}
          aria={{
            'aria-describedby': described.filter(Boolean).join(' '),
            'aria-invalid': errors.length > 0 || undefined,
          }}
          onInput={(input) => editor.edit(definition, input)}
          onBlur={() => afterPress(() => editor.check(definition))}
        />
        {errors.length > 0 && !draft?.theirs && (
          <p className="fm-error" id={`${id}-e`}>
            {errors.join(' ')}
          </p>
        )}
        {draft?.theirs && <Conflict id={`${id}-e`} definition={definition} theirs={draft.theirs} />}
        <div className="fm-foot">
          <RowStatus id={`${id}-s`} definition={definition} value={value} draft={draft} state={state} />
          <RowActions definition={definition} value={value} draft={draft} mayChange={mayChange} />
        </div>
      </div>
    </div>
  )
}

/** A message that appears while a button is pressed would push the button away, and the click would be lost. */
function afterPress(run: () => void): void {
  if (document.querySelector(':active')) addEventListener('pointerup', () => setTimeout(run), { once: true })
  else run()
}
