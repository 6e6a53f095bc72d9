/** From one value to another, alone or in a list: the same in the review, the import, the history, the activity and a conflict. */
import { SettingType } from '@fastify-modular/settings/client'
import { type ReactNode, useMemo } from 'react'
import { Icon } from '../icons.tsx'
import { plural } from '../../texts/messages.ts'
import { spokenTime, toLocal } from '../model/input.ts'
import { type Definition, displayValue, type JsonValue } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import { diffLines } from './lines.ts'

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

export function Diff({ definition, from, to, ofSecret }: DiffProps): ReactNode {
  const { messages } = usePage()
  if (definition.sensitive) return <p className="fm-small">{ofSecret ?? messages.secretChanged}</p>
  const texts = [from, to].map(({ value }) => toText(value))
  if (texts.some((text) => text.includes('\n')))
    return <Lines before={texts[0] ?? ''} after={texts[1] ?? ''} />
  return (
    <p className="fm-diff">
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
  readonly children?: ReactNode
}

/** One setting in a list of changes: from what to what, and what there is to know before. */
export function ChangedSetting(props: ChangedSettingProps): ReactNode {
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

function Shown({ definition, side }: { readonly definition: Definition; readonly side: Side }): ReactNode {
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

function Lines({ before, after }: { readonly before: string; readonly after: string }): ReactNode {
  const { messages, locale } = usePage()
  const lines = useMemo(() => diffLines(before, after), [before, after])
  return (
    <ol className="fm-lines" dir="ltr">
      {lines.map((line, index) =>
        line.kind === 'gap' ? (
          <li key={index} className="is-gap">
            {plural(messages.equalLines, line.count, locale)}
          </li>
        ) : (
          <li key={index} className={`is-${line.kind}`}>
            {line.kind !== 'same' && <span className="fm-hidden">{messages[line.kind]} </span>}
            {line.text}
          </li>
        ),
      )}
    </ol>
  )
}
