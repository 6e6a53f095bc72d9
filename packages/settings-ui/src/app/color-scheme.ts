/** Light, dark, or as the system says: a choice of this browser, not a setting. */

const storageKey = 'fm-theme'

/** Shows the choice in the header, and applies what was chosen before, or else what the host says. */
export function offerSchemes(preset: string): void {
  const select = document.querySelector<HTMLSelectElement>('#fm-scheme')
  if (!select) return
  select.hidden = false
  select.value = read() ?? preset
  select.value ||= preset // what is kept may be none of these
  const apply = (): void => void (document.documentElement.dataset['theme'] = select.value)
  apply()
  select.addEventListener('change', () => {
    apply()
    keep(select.value)
  })
}

function read(): string | null {
  try {
    return localStorage.getItem(storageKey)
  } catch {
    return null
  }
}

function keep(scheme: string): void {
  try {
    localStorage.setItem(storageKey, scheme)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
