/** What may be said of an error that a client threw, which may quote what it was given: never a secret. */
import { safeRead, truncate } from '@fastify-modular/core/internal'
import type { JsonValue } from '../setting-definition.ts'

/** What log and status have of an error. Secrets of the call are replaced by `•••`. */
export interface ResourceFailure {
  /** The class of the error, such as `TypeError`. */
  readonly name: string
  /** Such as `ECONNREFUSED`; null where the error has none. */
  readonly code: string | null
  /** At most 200 characters. */
  readonly message: string
}

/** Replaces secrets in a text, and cuts it to 200 characters. */
export type Hide = (text: string) => string

const replacement = '•••'
const maxLength = 200
/** Characters of a message that are searched; what is longer is not shown at all. */
const maxSearched = 64 * 1024
/** Characters of a secret that are searched for at once: a key file is hidden part by part. */
const maxPiece = 500

/** Name, code and message of an error; never its members, its cause or its stack, which clients fill with what they sent. */
export function toFailure(error: unknown, hide: Hide): ResourceFailure {
  const read = (member: string): string | undefined => {
    const found = safeRead(error, member)
    return typeof found === 'string' || typeof found === 'number' ? hide(String(found)) : undefined
  }
  const message = typeof error === 'string' ? hide(error) : read('message')
  return {
    name: read('name') ?? 'Error',
    code: read('code') ?? null,
    message: message ?? 'It failed without a message.',
  }
}

/** Returns the function that hides these values, all texts and numbers within them included. */
export function hiding(secrets: readonly JsonValue[]): Hide {
  const pieces = [...new Set(secrets.flatMap(textsOf))]
    .flatMap(inPieces)
    .toSorted((a, b) => b.length - a.length)
  const searched = pieces.flatMap((piece) => [
    new RegExp(inAnyEncoding(piece), 'giu'),
    ...inBase64(piece).map((core) => new RegExp(`[\\w+/-]?${core}[\\w+/-]?=*`, 'gu')),
  ])
  return (text) => {
    if (text.length > maxSearched) return `A message of ${text.length} characters.`
    const hidden = searched.reduce((rest, pattern) => rest.replace(pattern, replacement), text)
    return truncate(hidden, maxLength)
  }
}

/** The texts and numbers within a value, and its JSON. */
function textsOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value.toWellFormed()]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return [JSON.stringify(value), ...Object.values(value).flatMap(textsOf)]
}

/** Pieces of nearly the same length: a short one at the end would hide half of the message. */
function inPieces(secret: string): readonly string[] {
  const characters = Array.from(secret)
  const count = Math.ceil(characters.length / maxPiece)
  const size = Math.ceil(characters.length / count)
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  ).filter((piece) => piece !== '')
}

/** A pattern in which each character stands as it is, percent-encoded, as in a form, or as in JSON. */
function inAnyEncoding(piece: string): string {
  return Array.from(piece, (character) => {
    const percent = Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, '0')}`)
    const forms = [character, percent.join(''), JSON.stringify(character).slice(1, -1)]
    if (character === ' ') forms.push('+')
    return `(?:${[...new Set(forms)].map(escape).join('|')})`
  }).join('')
}

/**
 * Patterns of what the piece is within longer base64, such as that of `user:password`: it depends on where the piece begins
 * among three bytes. The characters at both ends depend on its neighbours as well.
 */
function inBase64(piece: string): readonly string[] {
  const bytes = Buffer.from(piece)
  const cores = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  // A core of one or two characters would be found everywhere.
  return [bytes.toString('base64'), ...cores.filter((core) => core.length > 2)].map((core) =>
    core.replaceAll('+', '[+-]').replaceAll('/', '[/_]'),
  )
}

function escape(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}
