/** The prebuilt pages: reads what the server wrote into the document and shows the page for it. */
import { createRoot } from 'react-dom/client'
import type { PageConfig } from '../document.ts'
import type { Messages } from '../react/messages.ts'
import { SettingsAdmin, UserSettings } from '../react/settings-components.tsx'
// oxlint-disable-next-line import/no-unassigned-import -- Vite puts it into the style sheet
import '../react/styles.css'

/** The theme is a choice of this browser, where no setting is. */
const storageKey = 'fm-theme'

const config = JSON.parse(document.getElementById('fm-config')?.textContent ?? '{}') as PageConfig // of our own server
const root = document.getElementById('fm-app')

if (root) void start(root)

/** A function: awaited outside of one, the texts would make Vite divide this script. */
async function start(element: HTMLElement): Promise<void> {
  if (config.themeSetting === undefined) offerSchemes(config.scheme)
  const { page, messages, definitionsLocale = null, ...props } = config
  const Page = page === 'manage' ? SettingsAdmin : UserSettings
  const texts = await loadTexts(config.texts)
  element.replaceChildren()
  createRoot(element).render(
    <Page {...props} definitionsLocale={definitionsLocale} messages={{ ...texts, ...messages }} id="fm" />,
  )
}

/** The texts of a language other than English; the English ones if they cannot be loaded. */
async function loadTexts(address: string | undefined): Promise<Partial<Messages>> {
  if (address === undefined) return {}
  try {
    return (await (await fetch(address)).json()) as Messages // of our own server
  } catch {
    return {}
  }
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
