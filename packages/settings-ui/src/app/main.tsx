/** The prebuilt pages: reads what the server wrote into the document and shows the page for it. */
import type { ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import type { PageConfig } from '../document.ts'
import type { Messages } from '../texts/messages.ts'
import {
  ManageSettings,
  SettingsGroup,
  type SettingsProps,
  Preferences,
} from '../react/settings-components.tsx'
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
  const props = await propsOf(config)
  element.replaceChildren()
  createRoot(element).render(pageOf(config, { ...props, id: 'fm' }))
}

type Request = (address: string) => Promise<Response>

/** What the server says, as properties of a page; its texts are loaded. */
export async function propsOf(config: PageConfig, request: Request = fetch): Promise<SettingsProps> {
  const texts = await loadTexts(config.texts, request)
  return { definitionsLocale: null, ...config, messages: { ...texts, ...config.messages } }
}

/** The page, or one group of it. */
export function pageOf({ page }: PageConfig, props: SettingsProps, group?: string): ReactNode {
  if (page === 'preferences') return <Preferences {...props} group={group} />
  return group === undefined ? <ManageSettings {...props} /> : <SettingsGroup {...props} group={group} />
}

/** The texts of a language other than English; the English ones if they cannot be loaded. */
async function loadTexts(address: string | undefined, request: Request): Promise<Partial<Messages>> {
  if (address === undefined) return {}
  try {
    return (await (await request(address)).json()) as Messages // of our own server
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
  const stored = attempt(() => localStorage.getItem(storageKey))
  const chosen = [stored, preset].map((scheme) => choices.find(({ value }) => value === scheme)).find(Boolean)
  if (chosen) apply(chosen)
  for (const choice of choices) {
    choice.addEventListener('change', () => {
      apply(choice)
      attempt(() => localStorage.setItem(storageKey, choice.value))
    })
  }
}

/** Browsers may refuse: without storage the choice lasts as long as the page. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
