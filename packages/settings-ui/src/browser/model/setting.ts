/** A setting as the pages know it: its definition, its value in words, and what the user has entered. */
import {
  type JsonValue,
  type SettingDefinitionDto,
  type SettingOption,
  SettingType,
  type SettingValueDto,
} from '@fastify-modular/settings/client'
import { format, type Messages } from '../../texts/messages.ts'

export type { JsonValue, SettingDefinitionDto as Definition } from '@fastify-modular/settings/client'

/** What a control holds: text, or the position of a switch. */
export type Input = string | boolean

/**
 * A value as the API answers it: what it inherits on other pages than the administration, whether it may be written on that
 * of an organisation, `revision` to a write of shared values.
 */
export interface SettingValue extends SettingValueDto {
  readonly inheritedValue?: JsonValue | undefined
  readonly inheritedSource?: SettingValueDto['source'] | undefined
  readonly canWrite?: boolean | undefined
  readonly revision?: number | null
}

/** What the user has entered and not yet saved. */
export interface Draft {
  readonly input: Input
  /** What another user has saved meanwhile. */
  readonly theirs?: SettingValue | undefined
  /** What the last save has sent: where it is still the input, that save is under way or has failed. */
  readonly sent?: Input | undefined
}

/** Whether nothing was entered since a draft was sent. */
export function isSent({ input, sent }: Draft): boolean {
  return input === sent
}

/** An error of the API: in `/1/port: Enter a number.` a JSON Pointer stands before the text. */
export function splitError(error: string): { readonly pointer: string; readonly text: string } {
  const [, pointer = '', text = error] = /^((?:\/[^/:]*)+): (.+)$/s.exec(error) ?? []
  return { pointer, text }
}

/** How a row looks; tests and style rules go by it. */
export type RowState = 'default' | 'overridden' | 'locked' | 'unsaved' | 'invalid' | 'conflict'

/** The most urgent thing about a row. */
export function rowState(value: SettingValue, draft: Draft | undefined, isWrong: boolean): RowState {
  if (draft?.theirs) return 'conflict'
  if (isWrong) return 'invalid'
  if (draft) return 'unsaved'
  if (isStale(value)) return 'invalid'
  if (value.locked) return 'locked'
  return value.isOverridden ? 'overridden' : 'default'
}

/** A value is stored that its definition does not allow any more: it is ignored. */
export function isStale({ isOverridden, source, locked }: SettingValue): boolean {
  return isOverridden && !locked && source === 'default'
}

/** The id of a control's element on a page, and the beginning of the ids of its label, error and status. */
export function elementId(page: { readonly id: string }, { key }: Pick<SettingDefinitionDto, 'key'>): string {
  return `${page.id}-${key}`
}

/** What can be chosen of a Select, or by its names of a Bool; nothing of other types. */
export function optionsOf(
  { type, options, allowedValues }: SettingDefinitionDto,
  names?: Pick<Messages, 'on' | 'off'>,
): readonly SettingOption[] {
  if (type !== SettingType.Bool || !names)
    return options ?? (allowedValues ?? []).map((value) => ({ value, label: value }))
  return [
    { value: 'true', label: names.on },
    { value: 'false', label: names.off },
  ]
}

/** Characters after which a value is cut off. */
const longest = 80

/** A value within a sentence, as its control shows it; of a secret, only that there is one. */
export function displayValue(definition: SettingDefinitionDto, value: JsonValue, messages: Messages): string {
  const { sensitive, options, unit } = definition
  if (sensitive) return messages.newSecret
  if (value === null || value === '') return messages.noValue
  if (typeof value === 'boolean') return value ? messages.on : messages.off
  const label = options?.find((option) => option.value === value)?.label
  const text = label ?? (typeof value === 'string' ? value : JSON.stringify(value))
  return (text.length > longest ? `${text.slice(0, longest)}…` : text) + (unit ? ` ${unit}` : '')
}

/** Characters up to which a value is short. */
const short = 24

/** Both values as sentences and buttons show them, without their unit; undefined where one of them is long, or not to be shown. */
export function shortValues(
  definition: SettingDefinitionDto,
  values: readonly [JsonValue, JsonValue],
  messages: Messages,
): readonly string[] | undefined {
  if (definition.sensitive || definition.type === SettingType.Json) return undefined
  const texts = values.map((value) => displayValue({ ...definition, unit: null }, value, messages))
  return texts.every((text) => text.length <= short && !text.includes('\n')) ? texts : undefined
}

/** The value that holds where none is stored; null also for a default that is not shown. */
export function toDefault({ type, defaultValue: raw }: SettingDefinitionDto): JsonValue {
  const isJson = type === SettingType.Number || type === SettingType.Bool || type === SettingType.Json
  return raw !== null && isJson ? (JSON.parse(raw) as JsonValue) : raw // the registry has checked it
}

/** `from 1 to 65535`; undefined without bounds. */
export function displayRange({ min, max }: SettingDefinitionDto, messages: Messages): string | undefined {
  if (min === null && max === null) return undefined
  const text = max === null ? messages.rangeFrom : min === null ? messages.rangeTo : messages.range
  return format(text, { min: String(min), max: String(max) })
}

/** Whether two values are written the same. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
