/** What a palette hands over to the page that it opens, within this tab: unsaved there, never in an address. */
const name = 'fm-draft'

export function keepDraft(key: string, input: string | boolean): void {
  try {
    sessionStorage.setItem(name, JSON.stringify({ [key]: input }))
  } catch {
    // Browsers may refuse: the page opens without it.
  }
}

/** Once; nothing where nothing was handed over. */
export function takeDraft(): Readonly<Record<string, string | boolean>> {
  try {
    const kept = sessionStorage.getItem(name)
    sessionStorage.removeItem(name)
    return kept === null ? {} : (JSON.parse(kept) as Record<string, string | boolean>) // of `keepDraft`
  } catch {
    return {}
  }
}
