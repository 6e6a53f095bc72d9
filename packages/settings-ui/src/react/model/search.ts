/** Finds settings: words and tokens such as `@modified`, `@type:json` and `tag:mail`. */
import { SettingType } from '@fastify-modular/settings/client'
import type { Definition, SettingValue } from './setting.ts'

export interface Query {
  readonly text: string
  readonly onlyModified: boolean
}

type Test = (definition: Definition, value: SettingValue) => boolean

const tokens = new Map<string, Test>([
  ['@modified', (_definition, { isOverridden }) => isOverridden],
  ['@locked', (_definition, { locked }) => locked],
  ['@sensitive', ({ sensitive }) => sensitive],
])

const typeNames = new Map(Object.entries(SettingType).map(([name, type]) => [name.toLowerCase(), type]))

/** Whether a setting matches all words and tokens of a query. */
export function createMatcher({ text, onlyModified }: Query): Test {
  const words = `${onlyModified ? '@modified' : ''} ${text}`.split(/\s+/).filter((word) => word !== '')
  const tests = words.map(testOf)
  return (definition, value) => tests.every((test) => test(definition, value))
}

function testOf(word: string): Test {
  const known = tokens.get(word.toLowerCase())
  if (known) return known
  if (/^@type:/i.test(word)) {
    const type = typeNames.get(word.slice(6).toLowerCase())
    return (definition) => definition.type === type
  }
  if (/^@?tag:/i.test(word)) {
    const tag = fold(word.slice(word.indexOf(':') + 1))
    return ({ tags }) => tags.some((each) => fold(each) === tag)
  }
  const wanted = fold(word)
  return (definition) => haystackOf(definition).includes(wanted)
}

const haystacks = new WeakMap<Definition, string>()

function haystackOf(definition: Definition): string {
  let found = haystacks.get(definition)
  if (found === undefined) {
    const { key, displayName, description, groupName, allowedValues, options, tags } = definition
    const labels = (options ?? []).map(({ label }) => label)
    found = fold(
      [key, displayName, description, groupName, ...(allowedValues ?? []), ...labels, ...tags].join('\n'),
    )
    haystacks.set(definition, found)
  }
  return found
}

/** Without case and diacritics: "preis" finds "Préis". */
function fold(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase()
}
