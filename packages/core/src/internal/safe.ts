/** Reads values that may be anything: thrown proxies, getters that throw, objects without a prototype. But for `isPlainObject` nothing here throws. */

/** The member of any value, or undefined where reading it fails. */
export function safeRead(value: unknown, key: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown> | null | undefined)?.[key]
  } catch {
    return undefined
  }
}

/** The member if it is a string, truncated to `limit` characters. */
export function safeText(value: unknown, key: PropertyKey, limit = 2000): string | undefined {
  const text = safeRead(value, key)
  return typeof text === 'string' ? truncate(text, limit) : undefined
}

/** The names of an object's own members; none where they cannot be listed. */
export function safeKeys(value: object): string[] {
  try {
    return Object.keys(value)
  } catch {
    return [] // a proxy
  }
}

/** Whether a value has members: an object, also a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Whether a value is an object of no class: a literal, or a namespace import. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** At most `limit` UTF-16 units of the text, no half of a character; the last one is an ellipsis where the text is longer. */
export function truncate(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…` : text
}

/** Whether a value is a promise, of this or another library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof safeRead(value, 'then') === 'function'
}

/** Handles the rejection of a promise that nobody waits for: unhandled it would end the process. */
export function ignoreRejection(promise: PromiseLike<unknown>): void {
  Promise.resolve(promise).catch(() => undefined)
}
