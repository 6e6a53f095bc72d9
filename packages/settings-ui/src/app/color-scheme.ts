/** Light, dark, or as the system says: a choice of this browser, not a setting. */

export type Scheme = 'auto' | 'light' | 'dark'

const storageKey = 'fm-theme'

/** What the user has chosen, or else what the host says. */
export function chosenScheme(preset: Scheme): Scheme {
  const stored = read()
  return stored === 'auto' || stored === 'light' || stored === 'dark' ? stored : preset
}

export function applyTheme(preset: Scheme): void {
  document.documentElement.dataset['theme'] = chosenScheme(preset)
}

export function chooseScheme(scheme: Scheme): void {
  try {
    localStorage.setItem(storageKey, scheme)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  document.documentElement.dataset['theme'] = scheme
}

function read(): string | null {
  try {
    return localStorage.getItem(storageKey)
  } catch {
    return null
  }
}
