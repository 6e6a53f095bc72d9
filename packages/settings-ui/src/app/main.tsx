/** The prebuilt pages: reads what the server wrote into the document and shows the page for it. */
import { createRoot } from 'react-dom/client'
import type { PageConfig } from '../document.ts'
import { SettingsAdmin, UserSettings } from '../react/settings-components.tsx'
// oxlint-disable-next-line import/no-unassigned-import -- Vite puts it into the style sheet
import '../react/styles.css'

/** The theme is a choice of this browser, not a setting. */
const storageKey = 'fm-theme'

const config = JSON.parse(document.getElementById('fm-config')?.textContent ?? '{}') as PageConfig // of our own server
const { page, scheme, ...props } = config
const root = document.getElementById('fm-app')

offerSchemes(scheme)
if (root) {
  const Page = page === 'manage' ? SettingsAdmin : UserSettings
  root.replaceChildren()
  createRoot(root).render(<Page {...props} id="fm" />)
}

/** Shows the choice of theme in the header, and applies the one chosen before, or else the preset of the host. */
function offerSchemes(preset: string): void {
  const group = document.querySelector<HTMLElement>('#fm-scheme')
  if (!group) return
  const choices = [...group.querySelectorAll('input')]
  const apply = (choice: HTMLInputElement): void => {
    choice.checked = true
    document.documentElement.dataset['theme'] = choice.value
  }
  group.hidden = false
  // What is stored may be none of these.
  const chosen = [read(), preset].map((scheme) => choices.find(({ value }) => value === scheme)).find(Boolean)
  if (chosen) apply(chosen)
  for (const choice of choices) {
    choice.addEventListener('change', () => {
      apply(choice)
      keep(choice.value)
    })
  }
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
