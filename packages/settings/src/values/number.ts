/** Numbers (S 2.3, decision 7). */
import type { CompleteDefinition } from '../setting-definition.ts'

/** The problems of a Number: JSON numbers within the bounds, integers only where doubles are exact. */
export function checkNumber(value: unknown, { min, max }: Pick<CompleteDefinition, 'min' | 'max'>): string[] {
  if (typeof value !== 'number' || !Number.isFinite(value)) return ['Enter a number.']
  // 12345678901234567890 arrives as ...7000 already: storing it would change it in silence.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return [`Enter an integer between ${Number.MIN_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}.`]
  }
  if (min !== null && value < min) return [`Enter a number of at least ${min}.`]
  if (max !== null && value > max) return [`Enter a number of at most ${max}.`]
  return []
}
