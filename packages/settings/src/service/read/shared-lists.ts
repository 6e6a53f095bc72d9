/** One list of values for all users who have the same: preferences are one of few, and a list weighs more than a Map's entry. */
import type { UserValues } from './user-cache.ts'

/** Lists that are remembered, and how long their text may be. */
const maxLists = 1000
const maxText = 200

/**
 * Returns a function that gives equal lists back as one. Lists are never changed in place, so nobody notices. Not for
 * sensitive values: a list outlives its last user.
 */
export function createSharedLists(): (values: UserValues) => UserValues {
  const lists = new Map<string, UserValues>()
  return function share(values) {
    // What JSON cannot tell apart is not shared: to it errors are empty objects, and what is missing is null.
    if (values.some((value) => value instanceof Error || value === null)) return values
    const text = JSON.stringify(values)
    if (text.length > maxText) return values
    const known = lists.get(text)
    if (known === undefined && lists.size < maxLists) lists.set(text, values)
    return known ?? values
  }
}
