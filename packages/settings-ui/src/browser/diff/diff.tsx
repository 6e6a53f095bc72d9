/** From one value to another, alone or in a list: the same in the review, the import, the history, the activity and a conflict. */
import { SettingType } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { plural } from '../../texts/messages.ts'
import { Icon } from '../icons.tsx'
import { spokenTime, toLocal } from '../model/times.ts'
import { type Definition, displayValue, type JsonValue } from '../model/setting.ts'
import { usePage } from '../page-context.ts'

/** One of the two values. */
export interface Side {
  readonly value: JsonValue
  /** Nothing is stored: the value is the default. */
  readonly isDefault?: boolean
}

interface DiffProps {
  readonly definition: Definition
  readonly from: Side
  readonly to: Side
  /** What is said of a secret. @default that it is another one */
  readonly ofSecret?: string | undefined
}

export function Diff({ definition, from, to, ofSecret }: DiffProps): ComponentChildren {
  const { messages } = usePage()
  if (definition.sensitive) return <p className="fm-small">{ofSecret ?? messages.secretChanged}</p>
  const texts = [from, to].map(({ value }) => toText(value))
  if (texts.some((text) => text.includes('\n')))
    return <Lines before={texts[0] ?? ''} after={texts[1] ?? ''} />
  return (
    <p className="fm-diff fm-line">
      <span className="fm-hidden">{messages.from} </span>
      <del dir="auto">
        <Shown definition={definition} side={from} />
      </del>
      <Icon name="to" />
      <span className="fm-hidden">{messages.to} </span>
      <ins dir="auto">
        <Shown definition={definition} side={to} />
      </ins>
    </p>
  )
}

interface ChangedSettingProps extends Omit<DiffProps, 'definition'> {
  /** What to call it where nothing defines it. */
  readonly name: string
  readonly definition: Definition | undefined
  /** The definition's own question is part of this list. */
  readonly isConfirmed?: boolean
  readonly children?: ComponentChildren
}

/** One setting in a list of changes: from what to what, and what there is to know before. */
export function ChangedSetting(props: ChangedSettingProps): ComponentChildren {
  const { name, definition, from, to, ofSecret, isConfirmed = false, children } = props
  return (
    <div className="fm-change">
      <p dir="auto">{definition?.displayName ?? <code dir="ltr">{name}</code>}</p>
      {definition && <Diff definition={definition} from={from} to={to} ofSecret={ofSecret} />}
      {isConfirmed && definition?.confirm && (
        <p className="fm-warning is-warn" dir="auto">
          {definition.confirm}
        </p>
      )}
      {children}
    </div>
  )
}

/** As an editor shows it: JSON has a line for each of its parts. */
function toText(value: JsonValue): string {
  if (typeof value === 'string') return value
  return typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : ''
}

function Shown({
  definition,
  side,
}: {
  readonly definition: Definition
  readonly side: Side
}): ComponentChildren {
  const { messages, locale } = usePage()
  const { value, isDefault } = side
  const { type } = definition
  const isColor = type === SettingType.Color && typeof value === 'string' && value !== ''
  const spoken = type === SettingType.DateTime && value ? spokenTime(toLocal(String(value)), locale) : ''
  return (
    <>
      {isColor && (
        <svg className="fm-i" viewBox="0 0 16 16" aria-hidden="true">
          <rect x="2" y="2" width="12" height="12" rx="3" fill={value} />
        </svg>
      )}
      {spoken || displayValue(definition, value, messages)}
      {isDefault && value !== null && value !== '' && (
        <>
          {' '}
          <i>{messages.defaultValue}</i>
        </>
      )}
    </>
  )
}

const signs = { same: ' ', gap: ' ', removed: '−', added: '+' } as const

function Lines({ before, after }: { readonly before: string; readonly after: string }): ComponentChildren {
  const { messages, locale } = usePage()
  const lines = useMemo(() => diffLines(before, after), [before, after])
  return (
    <ol className="fm-lines" dir="ltr">
      {lines.map((line, index) => (
        <li key={index} className={`is-${line.kind}`} data-sign={signs[line.kind]}>
          {line.kind === 'gap' ? (
            plural(messages.equalLines, line.count, locale)
          ) : (
            <>
              {line.kind !== 'same' && <span className="fm-hidden">{messages[line.kind]} </span>}
              {line.text}
            </>
          )}
        </li>
      ))}
    </ol>
  )
}

/** A line of both texts, of one of them, or a number of equal lines that are left out. */
export type Line =
  | { readonly kind: 'same' | 'removed' | 'added'; readonly text: string }
  | { readonly kind: 'gap'; readonly count: number }

/** Equal lines that stay beside a change. */
const context = 2

/** Lines of which every pair is compared; of longer texts, all that differs counts as one change. */
const most = 400

/** The lines of two texts in their order; equal ones far from any change are left out. */
export function diffLines(before: string, after: string): readonly Line[] {
  return before === after ? [] : fold(compare(toLines(before), toLines(after)))
}

type Whole = Exclude<Line, { readonly kind: 'gap' }>

function toLines(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n')
}

function compare(before: readonly string[], after: readonly string[]): readonly Whole[] {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start++
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const middle = changed(before.slice(start, before.length - end), after.slice(start, after.length - end))
  const toSame = (text: string): Whole => ({ kind: 'same', text })
  return [...before.slice(0, start).map(toSame), ...middle, ...before.slice(before.length - end).map(toSame)]
}

/** By the longest lines that both have in common, in their order. */
function changed(before: readonly string[], after: readonly string[]): Whole[] {
  const rows = before.length > most || after.length > most ? [] : commonLengths(before, after)
  const lines: Whole[] = []
  let [a, b] = [0, 0]
  while (a < before.length || b < after.length) {
    const [removed, added] = [before[a], after[b]]
    const isLongerWithout = (rows[a + 1]?.[b] ?? 0) >= (rows[a]?.[b + 1] ?? 0)
    if (rows.length > 0 && removed !== undefined && removed === added) {
      lines.push({ kind: 'same', text: removed })
      a++
      b++
    } else if (removed !== undefined && (added === undefined || isLongerWithout)) {
      lines.push({ kind: 'removed', text: removed })
      a++
    } else {
      lines.push({ kind: 'added', text: added ?? '' })
      b++
    }
  }
  return lines
}

/** How many lines the rests of both texts have in common, from each pair of lines on. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly (readonly number[])[] {
  const rows = Array.from({ length: before.length + 1 }, () => Array.from(after, () => 0))
  for (let a = before.length - 1; a >= 0; a--) {
    const [row, next] = [rows[a] ?? [], rows[a + 1] ?? []]
    for (let b = after.length - 1; b >= 0; b--)
      row[b] = before[a] === after[b] ? (next[b + 1] ?? 0) + 1 : Math.max(next[b] ?? 0, row[b + 1] ?? 0)
  }
  return rows
}

function fold(lines: readonly Whole[]): readonly Line[] {
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== 'same')
  const folded: Line[] = []
  for (const [index, line] of lines.entries()) {
    const last = folded.at(-1)
    if (isNear(index)) folded.push(line)
    else if (last?.kind === 'gap') folded.splice(-1, 1, { kind: 'gap', count: last.count + 1 })
    else folded.push({ kind: 'gap', count: 1 })
  }
  return folded
}
