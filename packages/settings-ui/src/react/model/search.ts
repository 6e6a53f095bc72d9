/** The search over all settings: ranked, forgiving one typo a word, and able to say why something was found. */
import { SettingType } from '@fastify-modular/settings/client'
import type { Definition, SettingValue } from './setting.ts'

/** What a search found, best first. */
export interface Found {
  readonly hits: readonly Hit[]
  /** The query that was searched for where the one that was entered finds nothing; with `isExact` what could be meant. */
  readonly corrected: string | undefined
  /** The words that were searched for, as they are compared. */
  readonly words: readonly string[]
}

interface Hit {
  readonly definition: Definition
  /** The keyword that it was found by, where nothing that its row shows says why. */
  readonly alias: string | undefined
}

export interface SearchQuery {
  readonly text: string
  /** Search for what was entered, whatever could be meant. */
  readonly isExact: boolean
}

/** Texts of a definition by how much a match in them counts. Rows show all but the keywords and the key. */
interface Field {
  readonly weight: number
  readonly words: readonly string[]
  /** The words without anything between them: "timezone" finds "Time zone". */
  readonly joined: string
  readonly keyword?: string
}

interface Entry {
  readonly definition: Definition
  readonly fields: readonly Field[]
}

/** Letters from which on a word may have a typo. */
const shortestWithTypo = 5

/** @returns the search over these definitions; what it compares is made once */
export function createSearch(definitions: readonly Definition[]): (query: SearchQuery) => Found {
  const entries = definitions.map((definition) => ({ definition, fields: fieldsOf(definition) }))
  const vocabulary = new Set(entries.flatMap(({ fields }) => fields.flatMap(({ words }) => words)))

  function isKnown(word: string): boolean {
    return entries.some(({ fields }) => fields.some((field) => qualityOf(word, field) > 0))
  }

  /** The word, or the one that it misspells. */
  function correct(word: string): string {
    if (word.length < shortestWithTypo || isKnown(word)) return word
    const near = [...vocabulary].filter((each) => each.length >= 4 && isOneEdit(word, each))
    return near.find((each) => each[0] === word[0]) ?? near[0] ?? word
  }

  return function search({ text, isExact }) {
    const entered = wordsOf(text)
    const meant = entered.map(correct)
    const isSame = meant.every((word, index) => word === entered[index])
    const words = isExact ? entered : meant
    const hits = entries
      .map((entry) => ({ ...rank(entry, words), definition: entry.definition }))
      .filter(({ count }) => count > 0 && count * 2 >= words.length)
      .toSorted((a, b) => b.count - a.count || b.score - a.score)
    return { hits, words, corrected: isSame ? undefined : meant.join(' ') }
  }
}

function fieldsOf(definition: Definition): readonly Field[] {
  const { key, displayName, description, groupName, allowedValues, options, tags, keywords } = definition
  const labels = options ? options.map(({ label }) => label) : (allowedValues ?? [])
  const field = (weight: number, text: string): Field => {
    const words = wordsOf(text)
    return { weight, words, joined: words.join('') }
  }
  return [
    field(10, displayName),
    ...keywords.map((keyword) => ({ ...field(8, keyword), keyword })),
    ...labels.map((label) => field(6, label)),
    field(5, key),
    field(4, [groupName ?? '', ...tags].join(' ')),
    field(3, description ?? ''),
  ]
}

/** How many of the words a setting has, and how well. */
function rank(
  { fields }: Entry,
  words: readonly string[],
): { readonly count: number; readonly score: number; readonly alias: string | undefined } {
  let count = 0
  let score = 0
  let alias: string | undefined
  const whole = words.join('')
  for (const word of words) {
    const scored = fields.map((field) => ({ field, points: field.weight * qualityOf(word, field) }))
    const best = scored.reduce((a, b) => (b.points > a.points ? b : a))
    if (best.points === 0) continue
    count++
    score += best.points
    const isShown = scored.some(({ field, points }) => points > 0 && !field.keyword && field.weight !== 5)
    if (!isShown) alias = best.field.keyword ?? alias
  }
  if (words.length > 1)
    score += Math.max(0, ...fields.map(({ joined, weight }) => (joined.includes(whole) ? weight : 0)))
  return { count, score, alias }
}

/** From 0 to 1. */
function qualityOf(word: string, { words, joined }: Field): number {
  if (words.includes(word)) return 1
  if (words.some((each) => each.startsWith(word))) return 0.8
  const isLongEnough = word.length >= 3 || /[^\p{ASCII}]/u.test(word)
  return isLongEnough && joined.includes(word) ? 0.5 : 0
}

/** Whether one letter that is missing, too much, another one or swapped with the next makes one word the other. */
function isOneEdit(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const restA = a.slice(at)
  const restB = b.slice(at)
  if (restA.length > restB.length) return restA.slice(1) === restB
  if (restA.length < restB.length) return restB.slice(1) === restA
  const isSwapped = restA[0] === restB[1] && restA[1] === restB[0] && restA.slice(2) === restB.slice(2)
  return restA.slice(1) === restB.slice(1) || isSwapped
}

/** The words of a text, without case and diacritics: "preis" finds "Préis". */
function wordsOf(text: string): readonly string[] {
  return fold(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** Without case and diacritics. */
export function fold(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase()
}

type Test = (definition: Definition, value: SettingValue) => boolean

const tokens = new Map<string, Test>([
  ['@modified', (_definition, { isOverridden }) => isOverridden],
  ['@locked', (_definition, { locked }) => locked],
  ['@sensitive', ({ sensitive }) => sensitive],
])

const typeNames = new Map(Object.entries(SettingType).map(([name, type]) => [name.toLowerCase(), type]))

/** A query without its tokens, such as `@modified`, `@type:json` and `tag:mail`, and the tests that these stand for. */
export function parseQuery(query: string): { readonly text: string; readonly tests: readonly Test[] } {
  const parts = query.split(/\s+/).map((word) => ({ word, test: testOf(word) }))
  return {
    text: parts.flatMap(({ word, test }) => (test ? [] : [word])).join(' '),
    tests: parts.flatMap(({ test }) => test ?? []),
  }
}

function testOf(word: string): Test | undefined {
  if (/^@type:/i.test(word)) {
    const type = typeNames.get(word.slice(6).toLowerCase())
    return (definition) => definition.type === type
  }
  if (/^@?tag:/i.test(word)) {
    const tag = fold(word.slice(word.indexOf(':') + 1))
    return ({ tags }) => tags.some((each) => fold(each) === tag)
  }
  return tokens.get(word.toLowerCase())
}
