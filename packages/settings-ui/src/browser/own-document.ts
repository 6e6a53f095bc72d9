/** The document of the prebuilt page around its element: what it says, and what it shows of drafts. */
import type { PageConfig } from '../document.ts'
import type { Stage } from '../stage.ts'
import { attempt } from './kept-draft.ts'
import { retitle } from './page/use-window.ts'
import { morePart } from './use-more.ts'

/** The theme is a choice of this browser, where no setting is. */
const storageKey = 'fm-theme'

/** Makes the document around its own element one that shows drafts; for any other element it returns undefined. */
export function ownDocument(element: HTMLElement): OwnDocument | undefined {
  if (element.id !== 'fm-app') return undefined
  const config = configOf(document)
  let stage: Promise<Stage> | undefined
  element.addEventListener('fm-preview', ({ detail: { key, value } }) => {
    stage ??= morePart.load().then(({ createStage }) => createStage(config.preview ?? {}))
    void stage.then(({ show }) => show(key, value))
  })
  element.addEventListener(
    'fm-saved',
    ({ detail: { keys } }) => void stage?.then(({ settle }) => settle(keys)),
  )
  offerSchemes(config.scheme)
  return {
    config,
    async readAgain() {
      const more = await morePart.load()
      const page = await more.readAgain(element, config.themeSetting === undefined)
      const next = configOf(page)
      retitle(page.title)
      offerSchemes(next.scheme)
      ;(await stage)?.showAgain()
      return next
    },
  }
}

export interface OwnDocument {
  /** What the server wrote into it. */
  readonly config: PageConfig
  /** Takes over what the server says now. */
  readonly readAgain: () => Promise<PageConfig>
}

function configOf(page: Document): PageConfig {
  return JSON.parse(page.getElementById('fm-config')?.textContent ?? '{}') as PageConfig // of our own server
}

/** Shows the choice of theme in the header where there is one, and applies the one chosen before, or else the preset of the host. */
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
