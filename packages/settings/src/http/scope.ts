/** Scopes as requests name them: the integer, or the name in any case (decision 6). */
import { Type } from '@sinclair/typebox'
import { SettingScope } from '../setting-definition.ts'

const names = Object.keys(SettingScope).map((name) => name.toLowerCase())
const anyCase = (name: string): string => name.replaceAll(/./g, (char) => `[${char}${char.toUpperCase()}]`)
const pattern = names.map(anyCase).join('|')

/** A scope in a body. */
export const ScopeInput = Type.Union(
  [Type.Integer({ minimum: 0, maximum: 2 }), Type.String({ pattern: `^(${pattern})$` })],
  { description: '0, 1 or 2, or System, Application or User' },
)

/** A scope in a query string. */
export const ScopeText = Type.String({
  pattern: `^([012]|${pattern})$`,
  description: '0, 1 or 2, or System, Application or User',
})

/** The scope of an input that its schema would accept; undefined for anything else. */
export function parseScope(input: unknown): SettingScope | undefined {
  // Some inputs come before their schema: text cannot be made of every object.
  if (typeof input !== 'string' && typeof input !== 'number') return undefined
  const name = String(input).toLowerCase()
  const value = /^[012]$/.test(name) ? Number(name) : names.indexOf(name)
  return value === 0 || value === 1 || value === 2 ? value : undefined
}
