// The list of 50 settings, made anew for each request: the same work whoever serves it.

/** What a table of settings would hold. */
const rows = new Map(Array.from({ length: 50 }, (_, number) => [`bench.key-${number}`, `value ${number}`]))

/** The settings as the settings API shows them. */
export function listSettings() {
  return [...rows].map(toDto)
}

function toDto([key, value]) {
  const own = { isOverridden: false, source: 'default', locked: false, version: 0 }
  return { key, scope: 1, value, ...own, userId: null, updatedAt: null, updatedBy: null }
}
