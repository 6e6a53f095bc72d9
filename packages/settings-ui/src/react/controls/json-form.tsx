/** Lists and flat objects as a grid of fields: one stop for Tab, arrow keys within. */
import {
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Icon } from '../icons.tsx'
import { format } from '../../texts/messages.ts'
import {
  type Form,
  type FormField,
  formOf,
  newPart,
  partsOf,
  pointerTo,
  toNumber,
  toText,
  valueIn,
  withValue,
} from '../model/json-form.ts'
import { type JsonValue, splitError } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import type { ControlProps } from './control-props.ts'
import { CodeControl } from './long-text.tsx'

/** A form where the schema has one and the value fits it; JSON for all else, and where the user prefers it. */
export function JsonControl(props: ControlProps): ReactNode {
  const { messages } = usePage()
  const { definition, field, errors } = props
  const [isCode, setCode] = useState(false)
  const form = useMemo(() => formOf(definition), [definition])
  const parts = useMemo(() => form && partsOf(form, field.value), [form, field.value])
  // An error of a part is shown at its field.
  const isForm = form && parts && (!isCode || errors.some((error) => splitError(error).pointer !== ''))
  if (isForm) return <JsonForm {...props} form={form} parts={parts} onCode={() => setCode(true)} />
  return (
    <CodeControl {...props}>
      {parts && (
        <button type="button" className="fm-link" onClick={() => setCode(false)}>
          {messages.editAsForm}
          <span className="fm-hidden"> {definition.displayName}</span>
        </button>
      )}
    </CodeControl>
  )
}

interface JsonFormProps extends ControlProps {
  readonly form: Form
  readonly parts: readonly JsonValue[]
  readonly onCode: () => void
}

/** A place in the grid. */
interface Place {
  readonly row: number
  readonly column: number
}

function JsonForm({ definition, field, errors, form, parts, onInput, onCode }: JsonFormProps): ReactNode {
  const { messages } = usePage()
  const { id, readOnly, onBlur } = field
  const { isList, fields } = form
  const grid = useRef<HTMLDivElement>(null)
  const [stop, setStop] = useState<Place>({ row: 0, column: 0 })
  const wanted = useRef<Place | null>(null)
  const byPointer = new Map(errors.map(splitError).map(({ pointer, text }) => [pointer, text]))

  // Once what was added, moved or removed is drawn, and before the user's next key.
  useLayoutEffect(() => {
    if (wanted.current) cellAt(wanted.current)?.focus()
    wanted.current = null
  })

  // What Tab stops at may be gone.
  useLayoutEffect(() => {
    const all = [...(grid.current?.querySelectorAll<HTMLElement>('[data-cell]') ?? [])]
    const chosen = all.find((each) => each.dataset['cell'] === `${stop.row} ${stop.column}`) ?? all[0]
    for (const each of all) {
      each.tabIndex = each === chosen ? 0 : -1
      each.toggleAttribute('data-first', each === chosen)
    }
  })

  function cellAt({ row, column }: Place): HTMLElement | undefined {
    const cells = [...(grid.current?.querySelectorAll<HTMLElement>(`[data-cell^="${row} "]`) ?? [])]
    return cells[Math.min(column, cells.length - 1)]
  }

  function change(next: readonly JsonValue[], focus?: Place): void {
    if (focus) wanted.current = focus
    onInput(toText(form, next))
  }

  function move(from: number, to: number, column: number): void {
    const part = parts[from]
    if (to < 0 || to >= parts.length || part === undefined) return
    change(parts.toSpliced(from, 1).toSpliced(to, 0, part), { row: to, column })
  }

  function walk(event: KeyboardEvent): void {
    const place = placeOf(event.target)
    const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!place || step === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return
    if (event.nativeEvent.isComposing) return // the key is for the input method
    const { row, column } = place
    const isVertical = event.key === 'ArrowUp' || event.key === 'ArrowDown'
    if (event.altKey && (!isVertical || !isList || readOnly || row >= parts.length)) return
    if (!isVertical && !isAtEdge(event.target, step)) return
    if (event.target instanceof HTMLSelectElement && isOpen(event.target)) return
    event.preventDefault()
    if (event.altKey) return move(row, row + step, column)
    const forward = isVertical || grid.current?.matches(':dir(ltr)') ? step : -step
    const next = isVertical ? { row: row + step, column } : { row, column: column + forward }
    if (next.row >= 0 && next.column >= 0) cellAt(next)?.focus()
  }

  function remember({ target }: FocusEvent): void {
    const place = placeOf(target)
    if (place) setStop(place)
  }

  function leave({ relatedTarget }: FocusEvent): void {
    if (!(relatedTarget instanceof Node && grid.current?.contains(relatedTarget))) onBlur()
  }

  function cell(index: number, each: FormField, place: Place): ReactNode {
    const part = parts[index] ?? ''
    const text = format(messages.itemOf, { name: definition.displayName, index: index + 1 })
    return (
      <Cell
        key={each.name}
        id={`${id}-${index}-${each.name}`}
        field={each}
        label={each.name === '' ? text : each.label}
        isLabelShown={each.name !== ''}
        value={valueIn(part, each)}
        place={place}
        isReadOnly={readOnly}
        error={byPointer.get(pointerTo(form, index, each))}
        onInput={(value) => change(parts.with(index, withValue(part, each, value)))}
      />
    )
  }

  /** What can be done with an item. */
  function toolsOf(row: number): ReactNode {
    const at = fields.length
    function remove(): void {
      const left = parts.toSpliced(row, 1)
      // The same button of the next item; where nothing is left, the one that adds.
      change(
        left,
        left.length === 0 ? { row: 0, column: 0 } : { row: Math.min(row, left.length - 1), column: at + 2 },
      )
    }
    const tools = [
      { name: 'moveUp', icon: 'chevron', run: () => move(row, row - 1, at) },
      { name: 'moveDown', icon: 'chevron', run: () => move(row, row + 1, at + 1) },
      { name: 'removeItem', icon: 'bin', run: remove },
    ] as const
    return tools.map(({ name, icon, run }, index) => {
      const label = format(messages[name], { index: row + 1 })
      const place = toCell({ row, column: at + index })
      return (
        <span key={name} role="gridcell" className="fm-acts" data-turned={name === 'moveUp' || undefined}>
          <button type="button" aria-label={label} title={label} data-cell={place} onClick={run}>
            <Icon name={icon} />
          </button>
        </span>
      )
    })
  }

  const last = isList ? parts.length : fields.length
  return (
    <div
      className={isList ? 'fm-form' : 'fm-form is-object'}
      role="grid"
      id={id}
      ref={grid}
      aria-label={definition.displayName}
      aria-describedby={field['aria-describedby']}
      aria-readonly={readOnly}
      onKeyDown={walk}
      onFocus={remember}
      onBlur={leave}
    >
      {isList
        ? parts.map((_part, row) => (
            <div key={row} role="row" className="fm-part">
              {fields.map((each, column) => cell(row, each, { row, column }))}
              {!readOnly && toolsOf(row)}
            </div>
          ))
        : fields.map((each, row) => (
            <div key={each.name} role="row" className="fm-part">
              {cell(0, each, { row, column: 0 })}
            </div>
          ))}
      <div role="row" className="fm-code-tools">
        {isList && !readOnly && (
          <span role="gridcell">
            <button
              type="button"
              className="fm-link"
              data-cell={toCell({ row: last, column: 0 })}
              onClick={() => change([...parts, newPart(form)], { row: last, column: 0 })}
            >
              {messages.addItem}
              <span className="fm-hidden"> {definition.displayName}</span>
            </button>
          </span>
        )}
        <span role="gridcell" className="fm-small fm-keys">
          {!readOnly && messages.formKeys}
        </span>
        <span role="gridcell">
          <button
            type="button"
            className="fm-link"
            data-cell={toCell({ row: last, column: 1 })}
            onClick={onCode}
          >
            {messages.editAsJson}
            <span className="fm-hidden"> {definition.displayName}</span>
          </button>
        </span>
      </div>
    </div>
  )
}

function toCell({ row, column }: Place): string {
  return `${row} ${column}`
}

function placeOf(target: EventTarget | null): Place | null {
  const cell = target instanceof HTMLElement ? target.dataset['cell'] : undefined
  const [row, column] = cell?.split(' ').map(Number) ?? []
  return row === undefined || column === undefined ? null : { row, column }
}

/** Where a browser cannot say it, the keys of an open list do not get here. */
function isOpen(select: HTMLSelectElement): boolean {
  return CSS.supports('selector(:open)') && select.matches(':open')
}

/** Whether an arrow key leaves a field: within a text it moves the caret. */
function isAtEdge(target: EventTarget, step: number): boolean {
  if (!(target instanceof HTMLInputElement) || target.type !== 'text') return true
  const { selectionStart, selectionEnd, value } = target
  const isTowardsStart = step < 0 === target.matches(':dir(ltr)')
  return selectionStart === selectionEnd && selectionStart === (isTowardsStart ? 0 : value.length)
}

interface CellProps {
  readonly id: string
  readonly field: FormField
  readonly label: string
  readonly isLabelShown: boolean
  readonly value: JsonValue | undefined
  readonly place: Place
  readonly isReadOnly: boolean
  readonly error: string | undefined
  readonly onInput: (value: string | number | boolean) => void
}

function Cell({
  id,
  field,
  label,
  isLabelShown,
  value,
  place,
  isReadOnly,
  error,
  onInput,
}: CellProps): ReactNode {
  const { messages } = usePage()
  const { kind, options, initial, isOptional } = field
  // `1.` and `1.0` are numbers on the way to others: what was typed stays.
  const [typed, setTyped] = useState('')
  const stored = value === undefined ? '' : String(value)
  const text = kind === 'number' && typed !== '' && toNumber(typed) === value ? typed : stored
  const common = {
    id,
    'data-cell': toCell(place),
    'aria-label': isLabelShown ? undefined : label,
    'aria-invalid': error !== undefined || undefined,
    'aria-describedby': error === undefined ? undefined : `${id}-e`,
  }
  return (
    <span role="gridcell" className={kind === 'bool' ? 'fm-cell is-switch' : 'fm-cell'}>
      {isLabelShown && (
        <label htmlFor={id} className={isOptional || kind === 'bool' ? undefined : 'is-required'} dir="auto">
          {label}
        </label>
      )}
      {kind === 'bool' && (
        <input
          {...common}
          type="checkbox"
          role="switch"
          checked={(value ?? initial) === true}
          aria-readonly={isReadOnly || undefined}
          onChange={(event) => !isReadOnly && onInput(event.currentTarget.checked)}
        />
      )}
      {kind === 'choice' && (
        <select
          {...common}
          disabled={isReadOnly}
          value={stored}
          onChange={({ currentTarget }) => {
            const option = options.find((each) => String(each.value) === currentTarget.value)
            onInput(option?.value ?? '')
          }}
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
      )}
      {(kind === 'text' || kind === 'number') && (
        <input
          {...common}
          className="fm-field"
          type="text"
          dir={kind === 'number' ? 'ltr' : 'auto'}
          inputMode={kind === 'number' ? 'decimal' : undefined}
          autoComplete="off"
          readOnly={isReadOnly}
          value={text}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value)
            onInput(kind === 'number' ? toNumber(currentTarget.value) : currentTarget.value)
          }}
        />
      )}
      {error !== undefined && (
        <span className="fm-note is-bad" id={`${id}-e`} dir="auto">
          {error}
        </span>
      )}
    </span>
  )
}
