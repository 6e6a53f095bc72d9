/** One setting: its name and description, its control, and what is news about it. */
import { SettingScope, SettingType } from '@fastify-modular/settings/client'
import { type ReactNode, useEffect, useState } from 'react'
import type { Field } from '../controls/control-props.ts'
import { controlOf, isGroup, isWide, widthOf } from '../controls/controls.tsx'
import { Diff } from '../diff/diff.tsx'
import { Icon } from '../icons.tsx'
import { format, type Messages } from '../../texts/messages.ts'
import { parseInput, relativeTime, toInput, zoneName } from '../model/input.ts'
import {
  type Definition,
  displayTime,
  displayValue,
  type Draft,
  elementId,
  type Input,
  isStale,
  rowState,
  type RowState,
  type SettingValue,
  splitError,
} from '../model/setting.ts'
import { useEditor, useMayChange, usePage } from '../page-context.ts'
import { treeOf } from '../tree.ts'
import { RowTools } from './row-tools.tsx'
import { SchemaControl } from './schema-control.tsx'

interface SettingRowProps {
  readonly definition: Definition
  /** The keyword that a search found it by. */
  readonly alias?: string | undefined
  /** Says the scope, where the group around it has several. */
  readonly isScopeShown?: boolean
}

/** Depends on nothing but its own value and draft. */
export function SettingRow({ definition, alias, isScopeShown = false }: SettingRowProps): ReactNode {
  const { key, displayName, required, type, unit, min, max } = definition
  const page = usePage()
  const { editor, messages } = page
  const value = useEditor((state) => state.values.get(key))
  const draft = useEditor((state) => state.drafts.get(key))
  const isJustSaved = useEditor((state) => editor.isOwn && state.saved.has(key))
  const mayChange = useMayChange(definition)
  if (!value) return null

  const id = elementId(page, definition)
  const state = rowState(value, draft)
  const isReadOnly = value.locked || !mayChange
  const hasHint = unit !== null || (type === SettingType.Number && min !== null && max !== null)
  const pill = pillOf({ definition, value, draft, state, isOwn: editor.isOwn, isJustSaved, messages })
  const note = draft?.theirs ? messages.conflict : draft?.errors.join(' ')
  // A form shows them at its fields.
  const isOfParts = draft?.errors.every((error) => splitError(error).pointer !== '')
  const described = [
    hasHint && `${id}-u`,
    `${id}-d`,
    `${id}-s`,
    note && `${id}-e`,
    type === SettingType.DateTime && `${id}-t`,
  ]
  const isNamedGroup = isGroup(definition, isReadOnly)
  return (
    <div
      className={isWide(type) ? 'fm-row is-wide' : 'fm-row'}
      data-key={key}
      data-state={state}
      data-type={type}
    >
      <div className="fm-about">
        <div className="fm-name">
          {isNamedGroup ? (
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
          ) : (
            <label htmlFor={id} className={required ? 'is-required' : undefined} dir="auto">
              {displayName}
            </label>
          )}
          <Pills
            id={`${id}-s`}
            pill={pill}
            definition={definition}
            alias={alias}
            isScopeShown={isScopeShown}
          />
          <RowTools definition={definition} value={value} draft={draft} mayChange={mayChange} />
          {!editor.isOwn && (
            <code className="fm-key" dir="ltr">
              {key}
            </code>
          )}
        </div>
        <Description id={`${id}-d`} definition={definition} value={value} draft={draft} />
      </div>
      <div className={widthOf(definition)}>
        <Control
          definition={definition}
          value={value}
          draft={draft}
          isReadOnly={isReadOnly}
          describedBy={described.filter(Boolean).join(' ')}
        />
      </div>
      {draft?.theirs ? (
        <Conflict id={`${id}-e`} definition={definition} theirs={draft.theirs} input={draft.input} />
      ) : (
        note && (
          <p
            className={isOfParts ? 'fm-note is-bad is-of-parts' : 'fm-note is-bad'}
            id={`${id}-e`}
            dir="auto"
          >
            <Icon name="alert" />
            {note}
          </p>
        )
      )}
      {type === SettingType.DateTime && (
        <TimeNote id={`${id}-t`} definition={definition} value={value} draft={draft} />
      )}
    </div>
  )
}

interface Pill {
  readonly text: string
  readonly kind?: 'bad' | 'good' | 'muted' | undefined
  readonly icon?: 'check' | 'key' | 'lock'
}

interface PillInit {
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
  readonly state: RowState
  readonly isOwn: boolean
  readonly isJustSaved: boolean
  readonly messages: Messages
}

/** The news of a row. The default is none; a change is shown by the edge and by ↺. */
function pillOf({ definition, value, draft, state, isOwn, isJustSaved, messages }: PillInit): Pill | null {
  if (draft?.theirs) return { text: messages.conflict, kind: 'bad' }
  if (draft)
    return {
      text: unsavedText(definition, value, isOwn, messages),
      kind: state === 'invalid' ? 'bad' : undefined,
    }
  if (state === 'invalid') return { text: messages.invalid, kind: 'bad' }
  if (isJustSaved) return { text: messages.savedNow, kind: 'good', icon: 'check' }
  if (value.locked) return { text: messages.locked, kind: 'muted', icon: 'lock' }
  return definition.sensitive ? { text: messages.secret, kind: 'muted', icon: 'key' } : null
}

function unsavedText(
  definition: Definition,
  { value }: SettingValue,
  isOwn: boolean,
  messages: Messages,
): string {
  if (isOwn) return messages.notSaved
  if (definition.sensitive || definition.type === SettingType.Json) return messages.unsaved
  return format(messages.unsavedWas, { value: displayValue(definition, value, messages) })
}

interface PillsProps {
  readonly id: string
  readonly pill: Pill | null
  readonly definition: Definition
  readonly alias: string | undefined
  readonly isScopeShown: boolean
}

function Pills({ id, pill, definition, alias, isScopeShown }: PillsProps): ReactNode {
  const { messages } = usePage()
  const isOverridden = useEditor((state) => state.values.get(definition.key)?.isOverridden === true)
  return (
    <>
      <span id={id} className={pill ? `fm-pill ${pill.kind ? `is-${pill.kind}` : ''}` : 'fm-hidden'}>
        {pill?.icon && <Icon name={pill.icon} />}
        {pill ? <span dir="auto">{pill.text}</span> : isOverridden && messages.overridden}
      </span>
      {isScopeShown && <span className="fm-pill is-muted">{scopeName(definition, messages)}</span>}
      {alias !== undefined && (
        <span className="fm-pill is-muted fm-alias">
          <Icon name="search" />
          <span dir="auto">{format(messages.alsoCalled, { keyword: alias })}</span>
        </span>
      )}
    </>
  )
}

/** Application defaults of User settings stand among the application's own. */
export function scopeName({ scope }: Pick<Definition, 'scope'>, messages: Messages): string {
  return scope === SettingScope.System ? messages.system : messages.application
}

interface PartsProps {
  readonly id: string
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
}

/** One paragraph: what it is, and what there is to know about its value. */
function Description({ id, definition, value, draft }: PartsProps): ReactNode {
  const { editor, messages } = usePage()
  const { description, type, sensitive, scope, restart, options, docsUrl, displayName } = definition
  const current = draft?.input ?? value.value
  const inherited = value.inheritedValue
  const lockText = useLockText(definition, value)
  const isInheritedShown = editor.isOwn && !sensitive && inherited != null && (value.isOverridden || draft)
  const facts = [
    description,
    type === SettingType.Select && options?.find((option) => option.value === current)?.description,
    lockText,
    isStale(value) && messages.staleValue,
    restart && messages.restart,
    !editor.isOwn && scope === SettingScope.User && messages.forUsers,
    isInheritedShown && format(messages.inherited, { value: displayValue(definition, inherited, messages) }),
  ].filter(Boolean)
  const isLinked = docsUrl !== null && editor.isOwn
  if (facts.length === 0 && !isLinked) return null
  return (
    <p id={id} dir="auto">
      {facts.join(' ')}
      {isLinked && (
        <>
          {' '}
          <a href={docsUrl} target="_blank" rel="noreferrer">
            {messages.documentation}
            <span className="fm-hidden"> {displayName}</span>
          </a>
        </>
      )}
    </p>
  )
}

/** Which instant a date-time is: its zone and its distance from now; the tooltip has what is stored. */
function TimeNote({ id, definition, value, draft }: PartsProps): ReactNode {
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
function useLockText({ key }: Definition, { locked }: SettingValue): string | false {
  const { api, messages, canUpdate } = usePage()
  const [source, setSource] = useState<string>()
  useEffect(() => {
    if (!locked || !canUpdate) return undefined
    let isGone = false
    api.inspect(key).then(
      ({ lockedBy }) => !isGone && lockedBy && setSource(lockNames[lockedBy]),
      () => undefined, // it is locked all the same
    )
    return () => {
      isGone = true
    }
  }, [api, key, locked, canUpdate])
  if (!locked) return false
  return source === undefined ? messages.lockedHint : format(messages.lockedBy, { source })
}

interface ControlPartsProps extends Omit<PartsProps, 'id'> {
  readonly isReadOnly: boolean
  /** Ids of what there is to know about it. */
  readonly describedBy: string
}

/** The control of a setting, with what is stored or entered in it. */
function Control({ definition, value, draft, isReadOnly, describedBy }: ControlPartsProps): ReactNode {
  const page = usePage()
  const { editor, messages } = page
  const { sensitive, placeholder, required } = definition
  const isSet = value.isOverridden || value.locked
  const input = draft?.input ?? toInput(definition, value.value)
  const onInput = (entered: Input): void => editor.edit(definition, entered)
  const secret = isSet ? messages.secretSet : messages.secretNotSet
  const example = placeholder === null ? undefined : format(messages.example, { value: placeholder })
  const field: Field = {
    id: elementId(page, definition),
    'aria-describedby': describedBy || undefined,
    'aria-invalid': (draft?.errors.length ?? 0) > 0 || undefined,
    value: String(input),
    placeholder: sensitive ? secret : example,
    required: required && !(sensitive && isSet),
    readOnly: isReadOnly,
    autoComplete: 'off',
    spellCheck: false,
    onInput: (event) => onInput(event.currentTarget.value),
    onBlur: () => afterPress(() => editor.leave(definition)),
  }
  const Chosen = definition.schema === null || sensitive ? controlOf(definition) : SchemaControl
  return (
    <Chosen
      definition={definition}
      field={field}
      input={input}
      errors={draft?.errors ?? []}
      storedAt={value.updatedAt}
      isUnsaved={draft !== undefined}
      onInput={onInput}
      onChoose={(chosen) => {
        onInput(chosen)
        if (!editor.isOwn) return
        if (definition.confirm) page.save()
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

interface ConflictProps {
  /** Of the text, which describes the control. */
  readonly id: string
  readonly definition: Definition
  readonly theirs: SettingValue
  /** What the user has entered. */
  readonly input: Input
}

/** Another user has changed the setting: both values, and the choice. */
function Conflict({ id, definition, theirs, input }: ConflictProps): ReactNode {
  const { editor, messages, locale } = usePage()
  const { key } = definition
  const text = format(messages.theirs, {
    name: theirs.updatedBy ?? messages.somebody,
    time: displayTime(theirs.updatedAt ?? new Date().toISOString(), locale),
  })
  const parsed = parseInput(definition, input, theirs.value)
  const mine = 'value' in parsed ? parsed.value : String(input)
  return (
    <div className="fm-conflict" role="group" aria-label={messages.conflict}>
      <p id={id} dir="auto">
        {text}
      </p>
      <Diff definition={definition} from={{ value: theirs.value }} to={{ value: mine }} />
      <button type="button" className="fm-button" onClick={() => editor.undo(key)}>
        {messages.useTheirs}
      </button>
      <button type="button" className="fm-button" onClick={() => editor.keepMine(key)}>
        {messages.keepMine}
      </button>
    </div>
  )
}
