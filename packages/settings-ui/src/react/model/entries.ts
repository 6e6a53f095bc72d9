/** What a save sends, and what keeps it from sending the rest. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { describe } from './check-input.ts'
import { parseInput } from './input.ts'
import type { Messages } from '../messages/messages.ts'
import type { EditorState } from './editor-state.ts'
import type { Entry } from './source.ts'

interface Entries {
  readonly entries: readonly Entry[]
  /** By key: drafts that mean nothing, and those in conflict. */
  readonly errors: Readonly<Record<string, readonly string[]>>
}

export function toEntries({ definitions, drafts, values }: EditorState, messages: Messages): Entries {
  const errors: Record<string, readonly string[]> = {}
  const entries: Entry[] = []
  for (const [key, { input, theirs }] of drafts) {
    const definition = definitions.find((each) => each.key === key)
    const value = values.get(key)
    if (!definition || !value) continue
    const parsed = parseInput(definition, input, value.value)
    if (theirs) errors[key] = [messages.decideFirst]
    else if ('problem' in parsed) errors[key] = [describe(parsed.problem, messages)]
    else entries.push({ key, scope: value.scope, value: parsed.value, version: value.version })
  }
  return { entries, errors }
}

/** A rule about several settings may name one that was not touched. */
export function hasErrorsElsewhere({ drafts }: EditorState, { errors }: SettingsRequestError): boolean {
  const keys = Object.keys(errors)
  return keys.length === 0 || keys.some((key) => !drafts.has(key))
}
