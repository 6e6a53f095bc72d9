/** The search over all settings: ranked, forgiving one typo a word, and able to say why something was found. */
import { type Definition, optionsOf } from './setting.ts'

/** What a search found, best first. */
export interface Found {
  readonly hits: readonly Hit[]
  /** The query that was searched for where the one that was entered finds nothing; with `isExact` what could be meant. */
  readonly corrected: string | undefined
  /** The words that were searched for, as they are compared. */
  readonly words: readonly string[]
  /** Where nothing was found: what comes closest. */
  readonly nearest: readonly Definition[]
}

export interface Hit {
  readonly definition: Definition
  /** What it was found by, where nothing that its row shows says so. */
  readonly reason?: Reason | undefined
}

/** A text that rows do not show. */
export interface Reason {
  readonly kind: 'keyword' | 'option' | 'key'
  readonly text: string
}

export interface SearchQuery {
  readonly text: string
  /** Search for what was entered, whatever could be meant. */
  readonly isExact: boolean
}

/** How much a match in a text counts, by what the text is of a setting. */
const weights = { name: 10, keyword: 8, option: 6, group: 4, description: 3, key: 1 } as const

/** A text of a definition. */
interface Field {
  readonly kind: keyof typeof weights
  readonly text: string
  readonly words: readonly string[]
  /** The words without anything between them: "timezone" finds "Time zone". */
  readonly joined: string
}

interface Entry {
  readonly definition: Definition
  readonly fields: readonly Field[]
}

/** Letters from which on a word may have a typo. */
const shortestWithTypo = 5

/** How many settings are named where nothing was found. */
const mostNearest = 3

/** @returns the search over these definitions; what it compares is made once */
export function createSearch(definitions: readonly Definition[]): (query: SearchQuery) => Found {
  const entries = definitions.map((definition) => ({ definition, fields: fieldsOf(definition) }))
  const vocabulary = new Set(entries.flatMap(({ fields }) => fields.flatMap(({ words }) => words)))

  /** The word, or the one that it misspells. */
  function correct(word: string): string {
    if (word.length < shortestWithTypo || entries.some(({ fields }) => matchesOf(word, fields).length > 0))
      return word
    const near = [...vocabulary].filter((each) => each.length >= 4 && isOneEdit(word, each))
    return near.find((each) => each[0] === word[0]) ?? near[0] ?? word
  }

  return function search({ text, isExact }) {
    const entered = wordsOf(text)
    const meant = entered.map(correct)
    const isSame = meant.every((word, index) => word === entered[index])
    const words = isExact ? entered : meant
    const found = entries.map(({ definition, fields }) => ({
      definition,
      fields,
      matches: words.map((word) => matchesOf(word, fields)),
    }))
    // A word that few settings have says more than one that many have.
    const rarity = words.map((_word, index) => {
      const count = found.filter(({ matches }) => (matches[index]?.length ?? 0) > 0).length
      return 1 + Math.log(entries.length / (count || 1))
    })
    const ranked = found
      .filter(({ matches }) => matches.some(({ length }) => length > 0))
      .map(({ definition, fields, matches }) => ({ definition, ...rank(fields, matches, words, rarity) }))
      .toSorted((a, b) => Number(a.isByKey) - Number(b.isByKey) || b.count - a.count || b.score - a.score)
    const hits = ranked.filter(({ count, isNamed }) => isNamed || count * 2 > words.length)
    const others = ranked.length > 0 ? ranked : similar(entries, words)
    return {
      hits,
      words,
      corrected: isSame ? undefined : meant.join(' '),
      nearest: hits.length > 0 ? [] : others.slice(0, mostNearest).map(({ definition }) => definition),
    }
  }
}

function fieldsOf(definition: Definition): readonly Field[] {
  const { key, displayName, description, groupName, keywords } = definition
  const field = (kind: Field['kind'], text: string): Field => {
    const words = wordsOf(text)
    return { kind, text, words, joined: words.join('') }
  }
  return [
    field('name', displayName),
    ...keywords.map((keyword) => field('keyword', keyword)),
    ...optionsOf(definition).map(({ label }) => field('option', label)),
    field('group', groupName ?? ''),
    field('description', description ?? ''),
    field('key', key),
  ]
}

/** What rows and their headings show. */
const shown: readonly string[] = ['name', 'group', 'description']
/** What people call a setting: a query that has all of it means it. */
const naming: readonly string[] = ['name', 'keyword', 'option', 'group']

/** A text that has a word, and how well. */
interface Match {
  readonly field: Field
  readonly points: number
}

/** Best first. */
function matchesOf(word: string, fields: readonly Field[]): readonly Match[] {
  const matches: Match[] = []
  for (const field of fields) {
    const points = weights[field.kind] * qualityOf(word, field)
    if (points > 0) matches.push({ field, points })
  }
  return matches.toSorted((a, b) => b.points - a.points)
}

interface Rank {
  /** Words of the query that the setting has. */
  readonly count: number
  readonly score: number
  readonly reason: Reason | undefined
  /** One of its names is in the query whole. */
  readonly isNamed: boolean
  /** Nothing but its key has the words. */
  readonly isByKey: boolean
}

/** @param matches of each word */
function rank(
  fields: readonly Field[],
  matches: readonly (readonly Match[])[],
  words: readonly string[],
  rarity: readonly number[],
): Rank {
  const best = matches.flatMap(([first]) => first ?? [])
  const unseen = matches.find((of) => of.length > 0 && of.every(({ field }) => isUnseen(field)))?.[0]?.field
  const whole = words.join('')
  const joined = words.length > 1 ? fields.filter((field) => field.joined.includes(whole)) : []
  const points = matches.map(([first], index) => (first?.points ?? 0) * (rarity[index] ?? 1))
  return {
    count: best.length,
    score:
      points.reduce((total, each) => total + each, 0) +
      Math.max(0, ...joined.map(({ kind }) => weights[kind])),
    reason: unseen && isUnseen(unseen) ? { kind: unseen.kind, text: unseen.text } : undefined,
    isNamed: fields.some(({ kind, words: own }) => naming.includes(kind) && isWithin(own, words)),
    isByKey: best.every(({ field }) => field.kind === 'key'),
  }
}

function isUnseen(field: Field): field is Field & Reason {
  return !shown.includes(field.kind)
}

/** Whether the query has all words of a name. */
function isWithin(name: readonly string[], query: readonly string[]): boolean {
  return name.length > 0 && name.every((own) => query.some((word) => isSameWord(word, own)))
}

/** Settings whose names have most pairs of letters in common with the query. */
function similar(entries: readonly Entry[], words: readonly string[]): readonly Entry[] {
  const wanted = pairsOf(words)
  const likeness = ({ fields }: Entry): number =>
    Math.max(
      0,
      ...fields
        .filter(({ kind }) => naming.includes(kind))
        .map(({ words: own }) => {
          const pairs = pairsOf(own)
          return (2 * [...pairs].filter((pair) => wanted.has(pair)).length) / (pairs.size + wanted.size || 1)
        }),
    )
  return entries
    .map((entry) => ({ entry, like: likeness(entry) }))
    .filter(({ like }) => like >= 0.5)
    .toSorted((a, b) => b.like - a.like)
    .map(({ entry }) => entry)
}

/** `['port']` → `po`, `or`, `rt` */
function pairsOf(words: readonly string[]): ReadonlySet<string> {
  return new Set(words.flatMap((word) => Array.from(word.slice(1), (_letter, at) => word.slice(at, at + 2))))
}

/** From 0 to 1. */
function qualityOf(word: string, { words, joined }: Field): number {
  if (words.includes(word)) return 1
  for (const each of words) {
    if (each.startsWith(word)) return 0.8
    if (word.startsWith(each) && isSameWord(word, each)) return 0.8
  }
  const isLongEnough = word.length >= 3 || /[^\p{ASCII}]/u.test(word)
  return isLongEnough && joined.includes(word) ? 0.5 : 0
}

/** Whether two words differ in their ending at most: "users" and "user", "Farben" and "Farbe". */
function isSameWord(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short === long || (short.length >= 4 && long.length - short.length <= 1 && long.startsWith(short))
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
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? []
}

/** Without case and diacritics. */
export function fold(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase()
}
