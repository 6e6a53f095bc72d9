/** A draft, and a value that somebody else has saved meanwhile: both stand in the row until one is chosen. */
import { SettingType } from '@fastify-modular/settings/client'
import type { ReactNode } from 'react'
import { Diff } from '../diff/diff.tsx'
import { format } from '../../texts/messages.ts'
import { parseInput, relativeTime } from '../model/input.ts'
import {
  type Definition,
  displayValue,
  type Input,
  type JsonValue,
  type SettingValue,
} from '../model/setting.ts'
import { usePage, useWriter } from '../page-context.ts'

/** Characters up to which a button says the value that it stands for. */
const shortest = 24

interface RowConflictProps {
  /** Of the text, which describes the control. */
  readonly id: string
  readonly definition: Definition
  readonly theirs: SettingValue
  /** What the user has entered. */
  readonly input: Input
}

export function RowConflict({ id, definition, theirs, input }: RowConflictProps): ReactNode {
  const { editor, messages, locale } = usePage()
  const { key, sensitive, type } = definition
  const name = useWriter(theirs)
  const parsed = parseInput(definition, input, theirs.value)
  const mine = 'value' in parsed ? parsed.value : String(input)
  const [mineText, theirText] = [mine, theirs.value].map((value: JsonValue) =>
    displayValue(definition, value, messages),
  )
  const isShort = [mineText, theirText].every((text) => text !== undefined && text.length <= shortest)
  const isNamed = isShort && !sensitive && type !== SettingType.Json
  const text = format(messages.theirs, {
    name: name ?? messages.somebody,
    time: relativeTime(new Date(theirs.updatedAt ?? Date.now()), locale),
  })
  return (
    <div className="fm-conflict" role="group" aria-label={messages.conflict}>
      <p id={id} dir="auto">
        {text}
      </p>
      {!isNamed && <Diff definition={definition} from={{ value: theirs.value }} to={{ value: mine }} />}
      <button type="button" className="fm-button" onClick={() => editor.keepMine(key)}>
        {messages.keepMine}
        {isNamed && <bdi>({mineText})</bdi>}
      </button>
      <button type="button" className="fm-button" onClick={() => editor.undo(key)}>
        {messages.useTheirs}
        {isNamed && <bdi>({theirText})</bdi>}
      </button>
    </div>
  )
}
