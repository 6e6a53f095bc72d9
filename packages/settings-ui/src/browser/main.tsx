/** The prebuilt pages: reads what the server wrote into the document and shows the page for it. */
import type { ReactNode } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import type { PageConfig } from '../document.ts'
import { createStage, type Stage } from '../stage.ts'
import type { Messages } from '../texts/messages.ts'
import {
  channelName,
  type PagePart,
  Settings,
  type SettingsProps,
} from './settings-components.tsx'
// oxlint-disable-next-line import/no-unassigned-import -- Vite puts it into the style sheet
import './styles.css'

/** The theme is a choice of this browser, where no setting is. */
const storageKey = 'fm-theme'

const element = document.getElementById('fm-app')

if (element) start(element)

function start(element: HTMLElement): void {
  let root: Root | undefined
  let stage: Stage | undefined
  void show(document)
  // A save of this tab is announced to it, too.
  new BroadcastChannel(channelName).addEventListener('message', () => readAgain(element, show))

  async function show(page: Document): Promise<void> {
    const config = JSON.parse(page.getElementById('fm-config')?.textContent ?? '{}') as PageConfig // of our own server
    offerSchemes(config.scheme)
    const { show: onPreview, settle: onSaved, showAgain } = (stage ??= createStage(config.preview ?? {}))
    showAgain()
    const props = await propsOf(config)
    if (!root) element.replaceChildren()
    root ??= createRoot(element)
    root.render(pageOf(config, { ...props, id: 'fm', onSaved, onPreview }))
  }
}

/** The server says anew what follows from settings: title, language, scheme, styles and what surrounds the page. */
function readAgain(element: Element, show: (page: Document) => Promise<void>): void {
  const request = new XMLHttpRequest() // unlike DOMParser, it parses HTML where Trusted Types are required
  request.open('GET', '')
  request.responseType = 'document'
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- nobody else has this request, and each byte is sent
  request.onload = () => {
    const next = request.responseXML?.getElementById('fm-app')
    if (!next) return // the session has ended, for example
    const page = next.ownerDocument
    const old = document.querySelectorAll('[rel=stylesheet]')
    const added = [...page.querySelectorAll('[rel=stylesheet]')]
    const settle = (spare: Iterable<Element>): void => {
      for (const link of spare) link.remove()
      document.title = page.title
      for (const { name, value } of page.documentElement.attributes)
        document.documentElement.setAttribute(name, value)
      const toggle = document.getElementById('fm-preview')
      replaceAround(element, next)
      if (toggle) document.getElementById('fm-preview')?.replaceWith(toggle)
      void show(page)
    }
    // All at once: what is tried is at no moment away. Where the styles cannot be loaded, those of before stay.
    added.at(-1)?.addEventListener('load', () => settle(old))
    added.at(-1)?.addEventListener('error', () => settle(added))
    document.head.append(...added)
  }
  request.send()
}

/** Everything but the element, which keeps its focus, and what contains it. */
function replaceAround(old: Element, next: Element): void {
  const { parentElement: parent } = old
  if (!parent || !next.parentElement || old === document.body) return
  replaceAround(parent, next.parentElement)
  while (old.previousSibling) old.previousSibling.remove()
  while (old.nextSibling) old.nextSibling.remove()
  while (next.previousSibling) parent.prepend(next.previousSibling)
  while (next.nextSibling) parent.append(next.nextSibling)
}

type Request = (address: string) => Promise<Response>

/** What the server says, as properties of a page; its texts are loaded. */
export async function propsOf(config: PageConfig, request: Request = fetch): Promise<SettingsProps> {
  const texts = await loadTexts(config.texts, request)
  return { definitionsLocale: null, ...config, messages: { ...texts, ...config.messages } }
}

/** The page, or a part of it. */
export function pageOf({ page }: PageConfig, props: SettingsProps, part?: PagePart): ReactNode {
  return <Settings {...props} {...part} isOwn={page === 'preferences'} />
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

/** Browsers may refuse: without storage the choice lasts as long as the page. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
