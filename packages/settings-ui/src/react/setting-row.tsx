/** One setting: its name and description, its control, its state and its actions. */
import { SettingScope, SettingType } from '@fastify-modular/settings/client'
import type { ReactNode } from 'react'
import { controlOf, type Field, isWide, QuietButton } from './controls.tsx'
import { format, type Messages } from './messages.ts'
import { toInput, zoneName } from './model/input.ts'
import {
  type Definition,
  displayRange,
  displayTime,
  displayValue,
  type Draft,
  elementId,
  type Input,
  isStale,
  rowState,
  type RowState,
  type SettingValue,
} from './model/setting.ts'
import { useEditor, useMayChange, usePage } from './page-context.ts'

/** Depends on nothing but its own value and draft. */
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

interface ControlPartsProps {
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
  readonly isReadOnly: boolean
  /** Ids of what there is to know about it. */
  readonly describedBy: string
}

/** The control of a setting, with what is stored or entered in it. */
function Control(props: ControlPartsProps): ReactNode {
  const { definition, value, draft, isReadOnly, describedBy } = props
  const page = usePage()
  const { editor, messages } = page
  const { sensitive, placeholder, required } = definition
  const isSet = value.isOverridden || value.locked
  const input = draft?.input ?? toInput(definition, value.value)
  const onInput = (entered: Input): void => editor.edit(definition, entered)
  const secret = isSet ? messages.secretSet : messages.secretNotSet
  const field: Field = {
    id: elementId(page, definition),
    'aria-describedby': describedBy,
    'aria-invalid': (draft?.errors.length ?? 0) > 0 || undefined,
    value: String(input),
    placeholder: sensitive ? secret : (placeholder ?? undefined),
    required: required && !(sensitive && isSet),
    readOnly: isReadOnly,
    autoComplete: 'off',
    spellCheck: false,
    onInput: (event) => onInput(event.currentTarget.value),
    onBlur: () => afterPress(() => editor.check(definition)),
  }
  const Chosen = controlOf(definition)
  return <Chosen definition={definition} field={field} input={input} onInput={onInput} />
}

/** A message that appears while a button is pressed would push the button away, and the click would be lost. */
function afterPress(run: () => void): void {
  if (document.querySelector(':active')) addEventListener('pointerup', () => setTimeout(run), { once: true })
  else run()
}

interface ConflictProps {
  /** Of the text, which describes the control. */
  readonly id: string
  readonly definition: Definition
  readonly theirs: SettingValue
}

/** Another user has changed the setting: both values, and the choice. */
function Conflict({ id, definition, theirs }: ConflictProps): ReactNode {
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

interface RowStatusProps {
  readonly id: string
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
  readonly state: RowState
}

/** The state of a setting's value, in words. */
function RowStatus({ id, definition, value, draft, state }: RowStatusProps): ReactNode {
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

interface RowActionsProps {
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
  readonly mayChange: boolean
}

/** What can be done with one setting. */
function RowActions({ definition, value, draft, mayChange }: RowActionsProps): ReactNode {
  const { editor, messages, canUpdate, open } = usePage()
  const { key, sensitive, confirm } = definition
  const canReset = value.isOverridden && !value.locked && mayChange
  const reset = (): void =>
    sensitive || confirm ? open({ kind: 'reset', definition }) : void editor.reset(definition)
  const actions = [
    draft && !draft.theirs && { name: messages.undo, run: () => editor.undo(key) },
    canReset && { name: sensitive ? messages.clear : messages.reset, run: reset },
    // The API refuses it to callers who may change only their own values.
    canUpdate &&
      !editor.isOwn && { name: messages.history, run: () => open({ kind: 'history', definition }) },
    {
      name: messages.copyLink,
      run: () => void copyLink(key).then(() => editor.announce(messages.linkCopied)),
    },
  ]
  return (
    <div className="fm-actions">
      {actions.map(
        (action) =>
          action && (
            <QuietButton key={action.name} about={definition.displayName} onClick={action.run}>
              {action.name}
            </QuietButton>
          ),
      )}
    </div>
  )
}

/** The clipboard needs a secure context; the address bar shows the link in any. */
async function copyLink(key: string): Promise<void> {
  const url = new URL(location.href)
  url.hash = `setting:${key}`
  history.replaceState(history.state, '', url)
  await navigator.clipboard?.writeText(url.href).catch(() => undefined)
}
