/** Lists and flat objects as ordinary fields: each is a stop for Tab, items have buttons that move and remove them. */
import {
  type FocusEvent,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Button } from '../button.tsx'
import { Icon } from '../icons.tsx'
import { format } from '../../texts/messages.ts'
import {
  type Form,
  type FormField,
  formOf,
  newPart,
  partsOf,
  pointerTo,
  toText,
  valueIn,
  withValue,
} from '../model/json-form.ts'
import { type JsonValue, splitError } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import type { ControlProps } from './control-props.ts'
import { JsonCell } from './json-cell.tsx'
import { CodeControl } from './long-text.tsx'

/** A form where the schema has one and the value fits it; JSON for all else, and where the user prefers it. */
export function JsonControl(props: ControlProps): ReactNode {
  const { definition, field, errors } = props
  const [isCode, setCode] = useState(false)
  const form = useMemo(() => formOf(definition), [definition])
  const parts = useMemo(() => form && partsOf(form, field.value), [form, field.value])
  // An error of a part is shown at its field.
  const isForm = !isCode || errors.some((error) => splitError(error).pointer !== '')
  if (!form || !parts) return <CodeControl {...props} />
  return (
    <>
      {isForm ? <JsonForm {...props} form={form} parts={parts} /> : <CodeControl {...props} />}
      <Mode id={field.id} name={definition.displayName} isForm={isForm} onChange={setCode} />
    </>
  )
}

interface ModeProps {
  /** Of the control. */
  readonly id: string
  /** Of the setting. */
  readonly name: string
  readonly isForm: boolean
  readonly onChange: (isCode: boolean) => void
}

/** Stands on the line of the label, and comes after the fields. */
function Mode({ id, name, isForm, onChange }: ModeProps): ReactNode {
  const { messages } = usePage()
  return (
    <span className="fm-seg fm-mode" role="radiogroup" aria-label={name}>
      {(['form', 'code'] as const).map((mode) => (
        <label key={mode}>
          <input
            type="radio"
            name={`${id}-mode`}
            checked={isForm === (mode === 'form')}
            onChange={() => onChange(mode === 'code')}
          />
          {messages[mode]}
        </label>
      ))}
    </span>
  )
}

interface JsonFormProps extends ControlProps {
  readonly form: Form
  readonly parts: readonly JsonValue[]
}

/** Changes the parts; `focus` names the element that has the focus then, by its `data-part`. */
type Change = (parts: readonly JsonValue[], focus?: string) => void

function JsonForm({ definition, field, errors, form, parts, onInput }: JsonFormProps): ReactNode {
  const { messages } = usePage()
  const { id, readOnly } = field
  const group = useRef<HTMLDivElement>(null)
  const focusLater = useWantedFocus(group)
  const byPointer = new Map(errors.map(splitError).map(({ pointer, text }) => [pointer, text]))

  const change: Change = (next, focus) => {
    focusLater(focus)
    onInput(toText(form, next))
  }

  function leave({ relatedTarget }: FocusEvent): void {
    if (!(relatedTarget instanceof Node && group.current?.contains(relatedTarget))) field.onBlur()
  }

  return (
    <div
      className="fm-items"
      role="group"
      id={id}
      ref={group}
      tabIndex={-1}
      aria-label={definition.displayName}
      aria-describedby={field['aria-describedby']}
      onBlur={leave}
    >
      {parts.map((_part, index) => (
        <Part key={index} {...{ id, form, parts, index, byPointer, change }} isReadOnly={readOnly} />
      ))}
      {form.isList && !readOnly && (
        <Button
          about={definition.displayName}
          icon="plus"
          data-part="add"
          data-first={parts.length === 0 || undefined}
          onClick={() => change([...parts, newPart(form)], `${parts.length} field`)}
        >
          {messages.addItem}
        </Button>
      )}
    </div>
  )
}

interface PartProps {
  /** Of the control. */
  readonly id: string
  readonly form: Form
  readonly parts: readonly JsonValue[]
  readonly index: number
  readonly byPointer: ReadonlyMap<string, string>
  readonly isReadOnly: boolean
  readonly change: Change
}

/** An item of a list with its tools, or the object alone. */
function Part({ id, form, parts, index, byPointer, isReadOnly, change }: PartProps): ReactNode {
  const { messages } = usePage()
  const part = parts[index] ?? ''
  const name = itemName(form, part, index, messages.item)
  /** The item is a value itself. */
  const isLine = form.fields[0]?.name === ''
  const tools = form.isList && !isReadOnly && <ItemTools {...{ parts, index, name, change }} />
  return (
    <div
      className={isLine ? 'fm-form is-line' : 'fm-form'}
      role={form.isList ? 'group' : undefined}
      aria-label={form.isList ? name : undefined}
    >
      {form.isList && !isLine && (
        <div className="fm-item">
          <b dir="auto">{name}</b>
          {tools}
        </div>
      )}
      {form.fields.map((each, column) => (
        <JsonCell
          key={each.name}
          id={`${id}-${index}-${each.name}`}
          place={column === 0 ? `${index} field` : undefined}
          isFirst={index === 0 && column === 0}
          field={each}
          label={each.name === '' ? name : each.label}
          value={valueIn(part, each)}
          isReadOnly={isReadOnly}
          error={byPointer.get(pointerTo(form, index, each))}
          onInput={(value) => change(parts.with(index, withValue(part, each, value)))}
        />
      ))}
      {isLine && tools}
    </div>
  )
}

/** Once what was added, moved or removed is drawn, and before the user's next key. */
function useWantedFocus(group: RefObject<HTMLElement | null>): (place: string | undefined) => void {
  const wanted = useRef<string | undefined>(undefined)
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    group.current?.querySelector<HTMLElement>(`[data-part="${wanted.current}"]`)?.focus()
    wanted.current = undefined
  })
  return (place) => void (wanted.current = place ?? wanted.current)
}

/** What its first text says, else its number. */
function itemName({ fields }: Form, part: JsonValue, index: number, numbered: string): string {
  const text =
    fields[0]?.kind === 'text' && fields[0].name !== '' ? valueIn(part, fields[0] satisfies FormField) : ''
  return typeof text === 'string' && text !== '' ? text : format(numbered, { index: index + 1 })
}

interface ItemToolsProps {
  readonly parts: readonly JsonValue[]
  readonly index: number
  readonly name: string
  readonly change: Change
}

/** Up, down and away; the focus goes with the button, and with the last item to the button that adds. */
function ItemTools({ parts, index, name, change }: ItemToolsProps): ReactNode {
  const { messages } = usePage()
  const last = parts.length - 1
  const move = (to: number, tool: string) => (): void => {
    const part = parts[index]
    if (part === undefined || to < 0 || to > last) return
    change(parts.toSpliced(index, 1).toSpliced(to, 0, part), `${to} ${tool}`)
  }
  const remove = (): void =>
    change(parts.toSpliced(index, 1), last === 0 ? 'add' : `${Math.min(index, last - 1)} remove`)
  const tools = [
    { tool: 'up', label: messages.moveUp, icon: 'chevron', isOff: index === 0, run: move(index - 1, 'up') },
    {
      tool: 'down',
      label: messages.moveDown,
      icon: 'chevron',
      isOff: index === last,
      run: move(index + 1, 'down'),
    },
    { tool: 'remove', label: messages.removeItem, icon: 'bin', isOff: false, run: remove },
  ] as const
  return (
    <span className="fm-acts">
      {tools.map(({ tool, label, icon, isOff, run }) => (
        <button
          key={tool}
          type="button"
          data-part={`${index} ${tool}`}
          data-turned={tool === 'up' || undefined}
          aria-label={format(label, { name })}
          title={format(label, { name })}
          aria-disabled={isOff || undefined}
          onClick={run}
        >
          <Icon name={icon} />
        </button>
      ))}
    </span>
  )
}
