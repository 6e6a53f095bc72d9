/** Lists and flat objects as ordinary fields: each is a stop for Tab, items have buttons that move and remove them. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { format } from '../../texts/messages.ts'
import { Button } from '../button.tsx'
import { Icon } from '../icons.tsx'
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
import { toNumber } from '../model/input.ts'
import { type Definition, type JsonValue, splitError } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { Segments, Switch } from './choices.tsx'
import type { ControlProps } from './control-props.ts'
import { CodeControl } from './long-text.tsx'

/** A form where the schema has one and the value fits it; JSON for all else, and where the user prefers it. */
export function JsonControl(props: ControlProps): ComponentChildren {
  const { messages } = usePage()
  const { definition, field } = props
  const errors = useErrors(definition)
  const [isCode, setCode] = useState(false)
  const form = useMemo(() => formOf(definition), [definition])
  const parts = useMemo(() => form && partsOf(form, field.value), [form, field.value])
  // An error of a part is shown at its field.
  const isForm = !isCode || errors.some(({ pointer }) => pointer !== '')
  if (!form || !parts) return <CodeControl {...props} />
  return (
    <>
      {isForm ? <JsonForm {...props} form={form} parts={parts} /> : <CodeControl {...props} />}
      {/* Stands on the line of the label, and comes after the fields. */}
      <Segments
        className="fm-seg fm-mode"
        aria-label={definition.displayName}
        name={`${field.id}-mode`}
        options={[
          { value: 'form', label: messages.form },
          { value: 'code', label: messages.code },
        ]}
        value={isForm ? 'form' : 'code'}
        onChoose={(mode) => setCode(mode === 'code')}
      />
    </>
  )
}

function useErrors({ key }: Definition): ReturnType<typeof splitError>[] {
  return useEditor(({ errors }) => errors.get(key))?.map(splitError) ?? []
}

interface JsonFormProps extends ControlProps {
  readonly form: Form
  readonly parts: readonly JsonValue[]
}

function JsonForm({ definition, field, form, parts, onInput }: JsonFormProps): ComponentChildren {
  const { messages } = usePage()
  const { id, readOnly } = field
  const group = useRef<HTMLDivElement>(null)
  /** The `data-part` of what has the focus next. */
  const wanted = useRef<string | undefined>(undefined)
  const byPointer = new Map(useErrors(definition).map(({ pointer, text }) => [pointer, text]))

  // Once what was added, moved or removed is drawn, and before the user's next key.
  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    group.current?.querySelector<HTMLElement>(`[data-part="${wanted.current}"]`)?.focus()
    wanted.current = undefined
  })

  const change: Change = (next, focus = wanted.current) => {
    wanted.current = focus
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
      onBlurCapture={leave}
    >
      {parts.map((_part, index) => (
        <Part key={index} {...{ id, form, parts, index, byPointer, change }} isReadOnly={readOnly} />
      ))}
      {form.isList && !readOnly && (
        <Button
          icon="plus"
          about={definition.displayName}
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

/** Changes the parts; `focus` names the element that has the focus then, by its `data-part`. */
type Change = (parts: readonly JsonValue[], focus?: string) => void

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
function Part({ id, form, parts, index, byPointer, isReadOnly, change }: PartProps): ComponentChildren {
  const { messages } = usePage()
  const part = parts[index] ?? ''
  const [first] = form.fields
  /** The item is a value itself. */
  const isLine = first?.name === ''
  const text = first?.kind === 'text' && !isLine ? valueIn(part, first) : ''
  const name = text ? String(text) : format(messages.item, { index: index + 1 })
  const tools = form.isList && !isReadOnly && <ItemTools {...{ parts, index, name, change }} />
  return (
    <div
      className={isLine ? 'fm-form fm-line is-line' : 'fm-form fm-line'}
      role={form.isList ? 'group' : undefined}
      aria-label={form.isList ? name : undefined}
    >
      {form.isList && !isLine && (
        <div className="fm-item fm-line">
          <b dir="auto">{name}</b>
          {tools}
        </div>
      )}
      {form.fields.map((each, column) => (
        <Cell
          key={each.name}
          field={each}
          name={name}
          value={valueIn(part, each)}
          isReadOnly={isReadOnly}
          error={byPointer.get(pointerTo(form, index, each))}
          onInput={(value) => change(parts.with(index, withValue(part, each, value)))}
          attributes={{
            id: `${id}-${index}-${each.name}`,
            ...(column === 0 && { 'data-part': `${index} field`, 'data-first': index === 0 || undefined }),
          }}
        />
      ))}
      {isLine && tools}
    </div>
  )
}

type ItemToolsProps = Pick<PartProps, 'parts' | 'index' | 'change'> & { readonly name: string }

/** Up, down and away; the focus goes with the button, and with the last item to the button that adds. */
function ItemTools({ parts, index, name, change }: ItemToolsProps): ComponentChildren {
  const { messages } = usePage()
  const last = parts.length - 1
  const without = parts.toSpliced(index, 1)
  const move = (to: number, tool: string): void => {
    if (to >= 0 && to <= last) change(without.toSpliced(to, 0, parts[index] ?? ''), `${to} ${tool}`)
  }
  const remove = (): void => change(without, last === 0 ? 'add' : `${Math.min(index, last - 1)} remove`)
  const tools = [
    ['up', messages.moveUp, index === 0, () => move(index - 1, 'up')],
    ['down', messages.moveDown, index === last, () => move(index + 1, 'down')],
    ['remove', messages.removeItem, false, remove],
  ] as const
  return (
    <span className="fm-acts">
      {tools.map(([tool, label, isOff, run]) => (
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
          <Icon name={tool === 'remove' ? 'bin' : 'chevron'} />
        </button>
      ))}
    </span>
  )
}

interface CellProps {
  readonly field: FormField
  /** Of the item. */
  readonly name: string
  readonly value: JsonValue | undefined
  readonly isReadOnly: boolean
  readonly error: string | undefined
  readonly onInput: (value: string | number | boolean) => void
  /** Of its element: the id, and what names it for the focus. */
  readonly attributes: {
    readonly id: string
    readonly 'data-part'?: string
    readonly 'data-first'?: true | undefined
  }
}

/** One field, with its label; the name of an item that is a value itself is not shown. */
function Cell(props: CellProps): ComponentChildren {
  const { field, error, value, isReadOnly, onInput } = props
  const { kind, name, label, isOptional, initial } = field
  const { id } = props.attributes
  const attributes = {
    ...props.attributes,
    'aria-label': name === '' ? props.name : undefined,
    'aria-invalid': error !== undefined || undefined,
    'aria-describedby': error === undefined ? undefined : `${id}-e`,
  }
  const Input = kind === 'choice' ? ChoiceCell : TextCell
  return (
    <div className={kind === 'bool' ? 'fm-cell is-switch' : 'fm-cell'}>
      {name !== '' && (
        <label htmlFor={id} className={isOptional || kind === 'bool' ? undefined : 'is-required'} dir="auto">
          {label}
        </label>
      )}
      {kind === 'bool' ? (
        <Switch {...attributes} isOn={(value ?? initial) === true} readOnly={isReadOnly} onTurn={onInput} />
      ) : (
        <Input {...props} attributes={attributes} />
      )}
      {error !== undefined && (
        <span className="fm-note fm-small is-bad" id={`${id}-e`} dir="auto">
          {error}
        </span>
      )}
    </div>
  )
}

function ChoiceCell({
  attributes,
  field: { options },
  value,
  isReadOnly,
  onInput,
}: CellProps): ComponentChildren {
  const { messages } = usePage()
  const stored = String(value ?? '')
  return (
    <select
      {...attributes}
      disabled={isReadOnly}
      value={stored}
      onChange={({ currentTarget }) =>
        onInput(options.find((each) => String(each.value) === currentTarget.value)?.value ?? '')
      }
    >
      {!options.some((each) => String(each.value) === stored) && (
        <option value={stored}>{stored || messages.noValue}</option>
      )}
      {options.map((each) => (
        <option key={String(each.value)} value={String(each.value)}>
          {each.label}
        </option>
      ))}
    </select>
  )
}

function TextCell({ attributes, field: { kind }, value, isReadOnly, onInput }: CellProps): ComponentChildren {
  // `1.` and `1.0` are numbers on the way to others: what was typed stays.
  const [typed, setTyped] = useState('')
  const isNumber = kind === 'number'
  /** A text that is not a number stays one: the API says that it is wrong. */
  const read = (text: string): string | number => (isNumber ? (toNumber(text) ?? text) : text)
  return (
    <input
      {...attributes}
      className="fm-field"
      type="text"
      dir={isNumber ? 'ltr' : 'auto'}
      inputMode={isNumber ? 'decimal' : undefined}
      autoComplete="off"
      readOnly={isReadOnly}
      value={typed !== '' && read(typed) === value ? typed : String(value ?? '')}
      onInput={({ currentTarget }) => {
        setTyped(currentTarget.value)
        onInput(read(currentTarget.value))
      }}
    />
  )
}
