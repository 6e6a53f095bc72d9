/** The search over all settings: ranked, forgiving one typo a word, and able to say why something was found. */
import type { PageConfig } from '../../document.ts'
import { fold, format, type Messages } from '../../texts/messages.ts'
import { groupName } from './listing.ts'
import { type Definition, optionsOf, type SettingValue } from './setting.ts'

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
  readonly reason?: string | undefined
}

export interface SearchQuery {
  readonly text: string
  /** Search for what was entered, whatever could be meant. */
  readonly isExact: boolean
  /** What settings hold, by key: searched, too, as far as it is shown. */
  readonly values?: ReadonlyMap<string, SettingValue>
}

/** How much a match in a text counts, by what the text is of a setting. */
const weights = {
  name: 10,
  keyword: 8,
  option: 6,
  group: 4,
  description: 3,
  secret: 2,
  key: 1,
  value: 0.5,
} as const

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

/**
 * @param texts say what secrets are called, whatever their names are, and which words say nothing about a setting
 * @returns the search over these definitions; what it compares is made once
 */
export function createSearch(
  definitions: readonly Definition[],
  texts: Messages,
  groups: PageConfig['groups'] = {},
): (query: SearchQuery) => Found {
  const made = definitions.map((definition) => {
    const ofGroup = [
      toField('group', groupName(definition.group, groups) ?? ''),
      toField('description', groups[definition.group ?? '']?.description ?? ''),
    ]
    return { definition, fields: [...fieldsOf(definition, texts), ...ofGroup].filter(isFilled) }
  })
  const vocabulary = new Set(made.flatMap(({ fields }) => fields.flatMap((field) => field.words)))
  const stopWords = new Set(wordsOf(texts.stopWords))

  /** The word, or the one that it misspells. */
  function correct(word: string, entries: readonly Entry[]): string {
    if (word.length < shortestWithTypo || entries.some(({ fields }) => matchesOf(word, fields).length > 0))
      return word
    const near = [...vocabulary].filter((each) => each.length >= 4 && isOneEdit(word, each))
    return near.find((each) => each[0] === word[0]) ?? near[0] ?? word
  }

  /** Made once for the same values. */
  let known: { readonly values: SearchQuery['values']; readonly entries: readonly Entry[] } = {
    values: undefined,
    entries: made,
  }

  return function search({ text, isExact, values }) {
    if (known.values !== values) known = { values, entries: made.map((entry) => withValue(entry, values)) }
    const { entries } = known
    const all = wordsOf(text)
    const telling = all.filter((word) => !stopWords.has(word))
    const entered = telling.length > 0 ? telling : all
    const meant = entered.map((word) => correct(word, entries))
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
      .map(({ definition, fields, matches }) => {
        const { unseen, ...ranks } = rank(fields, matches, words, rarity)
        return { definition, ...ranks, reason: unseen && whyFound(unseen, texts) }
      })
      .toSorted((a, b) => Number(a.isByKey) - Number(b.isByKey) || b.count - a.count || b.score - a.score)
    const hits = ranked.filter(({ count, isNamed }) => isNamed || count * 2 > words.length)
    const others = ranked.length > 0 ? ranked : similar(entries, words)
    return {
      hits,
      words,
      corrected: isSame
        ? undefined
        : respelled(text, new Map(entered.map((word, at) => [word, meant[at] ?? word]))),
      nearest: hits.length > 0 ? [] : others.slice(0, mostNearest).map(({ definition }) => definition),
    }
  }
}

/** The text with other words in place of these; what is between them stays. */
function respelled(text: string, others: ReadonlyMap<string, string>): string {
  return text.replaceAll(wordPattern, (each) => {
    const [folded = each] = wordsOf(each)
    const other = others.get(folded)
    return other === undefined || other === folded ? each : other
  })
}

function toField(kind: Field['kind'], text: string): Field {
  const words = wordsOf(text)
  return { kind, text, words, joined: words.join('') }
}

/** Characters of a value that are searched. */
const longestValue = 300

/** Positions of switches are no text, and secrets are none of anybody's. */
function withValue({ definition, fields }: Entry, values: SearchQuery['values']): Entry {
  const { value = null } = values?.get(definition.key) ?? {}
  if (value === null || typeof value === 'boolean' || definition.sensitive) return { definition, fields }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { definition, fields: [...fields, toField('value', text.slice(0, longestValue))] }
}

function isFilled({ words }: Field): boolean {
  return words.length > 0
}

function fieldsOf(definition: Definition, { secretWords }: Pick<Messages, 'secretWords'>): readonly Field[] {
  const { key, displayName, description, keywords, sensitive } = definition
  return [
    toField('name', displayName),
    ...keywords.map((keyword) => toField('keyword', keyword)),
    ...optionsOf(definition).map(({ label }) => toField('option', label)),
    toField('description', description ?? ''),
    toField('secret', sensitive ? secretWords : ''),
    toField('key', key),
  ]
}

/** What says of a match that rows and their headings do not show what it was found by. */
const reasons: { readonly [K in Field['kind']]?: 'alsoCalled' | 'hasOption' | 'hasKey' | 'hasValue' } = {
  keyword: 'alsoCalled',
  option: 'hasOption',
  key: 'hasKey',
  value: 'hasValue',
}

function whyFound({ kind, text }: Field, texts: Messages): string | undefined {
  const reason = reasons[kind]
  return reason && format(texts[reason], { text })
}

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
  /** A text with a word that nothing which its row shows has. */
  readonly unseen: Field | undefined
  /** One of its names is in the query whole. */
  readonly isNamed: boolean
  /** Nothing but its key or its value has the words. */
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
  const unseen = matches.find((of) => of.length > 0 && of.every(({ field }) => reasons[field.kind]))?.[0]
    ?.field
  const whole = words.join('')
  const joined = words.length > 1 ? fields.filter((field) => field.joined.includes(whole)) : []
  const points = matches.map(([first], index) => (first?.points ?? 0) * (rarity[index] ?? 1))
  return {
    count: best.length,
    score:
      points.reduce((total, each) => total + each, 0) +
      Math.max(0, ...joined.map(({ kind }) => weights[kind])),
    unseen,
    isNamed: fields.some(
      ({ kind, words: own }) =>
        naming.includes(kind) &&
        isWithin(own, words) &&
        // Of several words one alone names nothing, unless the setting is called so.
        (kind !== 'keyword' || own.length > 1 || words.length === 1),
    ),
    isByKey: best.every(({ field: { kind } }) => kind === 'key' || kind === 'value'),
  }
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

const wordPattern = /[\p{L}\p{M}\p{N}]+/gu

/** The words of a text, without case and diacritics: "preis" finds "Préis". */
function wordsOf(text: string): readonly string[] {
  return fold(text).match(wordPattern) ?? []
}
