/** One setting: its name and description, its control, and what is news about it. */
import { SettingType } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { format } from '../../texts/messages.ts'
import type { ControlProps, Field, RowParts } from '../controls/control-props.ts'
import { isSegmented } from '../controls/choices.tsx'
import { controlOf, isWide, widthOf } from '../controls/controls.tsx'
import { CodeControl } from '../controls/long-text.tsx'
import { Icon } from '../icons.tsx'
import { toInput } from '../model/input.ts'
import {
  type Definition,
  elementId,
  type Input,
  rowState,
  shortValues,
  splitError,
} from '../model/setting.ts'
import { useEditor, useMayChange, usePage } from '../page-context.ts'
import { RowDescription, RowPills, RowTime, ShadeNote } from './row-description.tsx'
import { RowConflict, RowTools } from './row-tools.tsx'
import { treeOf } from '../tree.ts'
import { morePart, usePart } from '../use-more.ts'

export interface SettingRowProps {
  readonly definition: Definition
  /** Why a search has found it, where nothing that the row shows says so. */
  readonly reason?: string | undefined
  /** Says the scope, where the group around it has several. */
  readonly isScopeShown: boolean
  /** Stands beside its name, unless there is a draft. */
  readonly notice?: ComponentChildren
}

/** Depends on nothing but its own value and draft. Its control is its first stop for Tab, its tools follow. */
export function SettingRow({ definition, reason, isScopeShown, notice }: SettingRowProps): ComponentChildren {
  const { key, type, unit, min, max } = definition
  const page = usePage()
  const value = useEditor((state) => state.values.get(key))
  const draft = useEditor((state) => state.drafts.get(key))
  const errors = useEditor((state) => state.errors.get(key)) ?? []
  const isSaved = useEditor((state) => state.saved.has(key))
  const change = useEditor((each) => each.news.get(key))
  const mayChange = useMayChange({ ...definition, canWrite: value?.canWrite ?? definition.canWrite })
  const [isTold, showWhat] = useState(false)
  const more = usePart(morePart, isTold)
  if (!value) return null

  const id = elementId(page, definition)
  // Who has changed it while the page was open, unless the reader has a draft of it.
  const news = !draft && change?.version === value.version ? change : undefined
  const isLong =
    news && !definition.sensitive && !shortValues(definition, [news.from.value, value.value], page.messages)
  const state = rowState(value, draft, errors.length > 0)
  const isReadOnly = value.locked || !mayChange
  const hasHint = unit !== null || (type === SettingType.Number && min !== null && max !== null)
  const hasNote = draft?.theirs !== undefined || errors.length > 0
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
      part="row"
      data-key={key}
      data-state={state}
      data-type={type}
      data-saved={isSaved || undefined}
      data-news={news?.isFresh || undefined}
      data-readonly={isReadOnly || undefined}
    >
      <div className="fm-about">
        <div className="fm-name fm-line">
          <Label id={id} definition={definition} isOfGroup={isSegmented(definition) && !isReadOnly} />
          <RowPills
            id={`${id}-s`}
            {...parts}
            state={state}
            reason={reason}
            isScopeShown={isScopeShown}
            news={news}
            notice={notice}
          />
        </div>
        <RowDescription id={`${id}-d`} {...parts} />
      </div>
      <div className={widthOf(definition)}>
        <RowControl
          {...parts}
          isInvalid={!draft?.theirs && errors.length > 0}
          isReadOnly={isReadOnly}
          describedBy={described.filter(Boolean).join(' ')}
        />
      </div>
      <RowTools
        {...parts}
        mayChange={mayChange}
        tell={isLong ? { isTold, toggle: () => showWhat(!isTold) } : null}
      />
      {page.editor.isShared && (
        <code className="fm-key" dir="ltr">
          {key}
        </code>
      )}
      {isLong && isTold && more && (
        <div className="fm-told">
          <more.Diff definition={definition} from={news.from} to={value} />
        </div>
      )}
      {draft?.theirs ? (
        <RowConflict id={`${id}-e`} definition={definition} theirs={draft.theirs} input={draft.input} />
      ) : (
        hasNote && <Errors id={`${id}-e`} errors={errors} />
      )}
      {page.preview[key] === 'accent' && <ShadeNote color={String(draft?.input ?? value.value)} />}
      {type === SettingType.DateTime && <RowTime id={`${id}-t`} {...parts} />}
    </div>
  )
}

interface LabelProps {
  /** Of the control. */
  readonly id: string
  readonly definition: Definition
  /** Several elements make up the control: the label names their group, and leads to the first. */
  readonly isOfGroup: boolean
}

function Label({ id, definition, isOfGroup }: LabelProps): ComponentChildren {
  const { displayName, required } = definition
  return (
    <label
      id={`${id}-l`}
      htmlFor={isOfGroup ? undefined : id}
      className={required && !isOfGroup ? 'is-required' : undefined}
      dir="auto"
      onClick={({ currentTarget }) =>
        isOfGroup && treeOf(currentTarget).getElementById(id)?.querySelector('input')?.focus()
      }
    >
      {displayName}
    </label>
  )
}

interface ErrorsProps {
  readonly id: string
  readonly errors: readonly string[]
}

/** A form shows errors of its parts at its fields. */
function Errors({ id, errors }: ErrorsProps): ComponentChildren {
  const isOfParts = errors.every((error) => splitError(error).pointer !== '')
  return (
    <p
      className={
        isOfParts ? 'fm-note fm-line fm-small is-bad is-of-parts' : 'fm-note fm-line fm-small is-bad'
      }
      id={id}
      dir="auto"
    >
      <Icon name="alert" />
      {errors.join(' ')}
    </p>
  )
}

interface RowControlProps extends RowParts {
  readonly isInvalid: boolean
  readonly isReadOnly: boolean
  /** Ids of what there is to know about it. */
  readonly describedBy: string
}

function RowControl({
  definition,
  value,
  draft,
  isInvalid,
  isReadOnly,
  describedBy,
}: RowControlProps): ComponentChildren {
  const page = usePage()
  const { editor, messages } = page
  const { sensitive, placeholder, required, schema } = definition
  const isSet = value.isOverridden || value.locked
  const onInput = (entered: Input): void => editor.edit(definition, entered)
  const secret = isSet ? messages.secretSet : messages.secretNotSet
  const example = placeholder === null ? undefined : format(messages.example, { value: placeholder })
  const field: Field = {
    id: elementId(page, definition),
    'aria-describedby': describedBy,
    'aria-invalid': isInvalid || undefined,
    value: String(draft?.input ?? toInput(definition, value.value)),
    placeholder: sensitive ? secret : example,
    required: required && !(sensitive && isSet),
    readOnly: isReadOnly,
    autoComplete: 'off',
    spellcheck: false,
    onInput: (event) => onInput(event.currentTarget.value),
    onBlur: () => afterPress(() => editor.leave(definition)),
  }
  const Control = schema === null || sensitive ? controlOf(definition) : SchemaControl
  return (
    <Control
      definition={definition}
      value={value}
      draft={draft}
      field={field}
      onInput={onInput}
      onChoose={(chosen) => {
        onInput(chosen)
        if (!editor.isOwn) return
        if (definition.confirm) editor.submit()
        else editor.leave(definition)
      }}
    />
  )
}

/** A message that appears while a button is pressed would push the button away, and the click would be lost. */
function afterPress(run: () => void): void {
  if (document.querySelector(':active')) addEventListener('pointerup', () => setTimeout(run), { once: true })
  else run()
}

/** JSON where the file cannot be loaded. */
function SchemaControl(props: ControlProps): ComponentChildren {
  const more = usePart(morePart)
  if (more === undefined) return <div className="fm-form fm-line" id={props.field.id} aria-busy />
  return more ? <more.JsonControl {...props} /> : <CodeControl {...props} />
}
