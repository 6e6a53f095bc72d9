/** Reads values that may be anything: thrown proxies, getters that throw, objects without a prototype. */

/** The member of any value, or undefined where reading it fails. Never throws. */
export function safeRead(value: unknown, key: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown> | null | undefined)?.[key]
  } catch {
    return undefined
  }
}

/** The member if it is a string, at most `limit` characters of it. Never throws. */
export function safeText(value: unknown, key: PropertyKey, limit = 2000): string | undefined {
  const text = safeRead(value, key)
  return typeof text === 'string' ? cut(text, limit) : undefined
}

/** The names of an object's own members, none where they cannot be listed. Never throws. */
export function safeKeys(value: object): string[] {
  try {
    return Object.keys(value)
  } catch {
    return [] // a proxy
  }
}

/** At most `limit` characters of the text. */
export function cut(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text
}
