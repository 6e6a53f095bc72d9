/** A draft, and a value that somebody else has saved meanwhile: both stand in the row until one is chosen. */
import { SettingType } from '@fastify-modular/settings/client'
import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { format } from '../../texts/messages.ts'
import { parseInput } from '../model/input.ts'
import {
  type Definition,
  displayValue,
  type Input,
  type JsonValue,
  type SettingValue,
} from '../model/setting.ts'
import { usePage, useWriter } from '../page-context.ts'
import { useMore } from '../use-more.ts'

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
  const { editor, messages } = usePage()
  const { key, sensitive, type } = definition
  const name = useWriter(theirs) ?? messages.somebody
  const parsed = parseInput(definition, input, theirs.value)
  const mine = 'value' in parsed ? parsed.value : String(input)
  const texts = [mine, theirs.value].map((value: JsonValue) => displayValue(definition, value, messages))
  const [mineText, theirText] = texts
  const isShort = texts.every((text) => text.length <= shortest && !text.includes('\n'))
  const isNamed = isShort && !sensitive && type !== SettingType.Json
  const more = useMore(!isNamed)
  const text = format(messages.theirs, { name })
  return (
    <div className="fm-conflict" role="group" aria-label={text}>
      <p id={id} dir="auto">
        {text}
      </p>
      {more && <more.Diff definition={definition} from={{ value: theirs.value }} to={{ value: mine }} />}
      <Button onClick={() => editor.keepMine(definition)}>
        {messages.keepMine}
        {isNamed && <bdi>({mineText})</bdi>}
      </Button>
      <Button onClick={() => editor.undo(key)}>
        {format(messages.useTheirs, { name })}
        {isNamed && <bdi>({theirText})</bdi>}
      </Button>
    </div>
  )
}
