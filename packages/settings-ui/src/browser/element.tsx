/**
 * `<fm-settings>`: the settings pages as an element of any page. It has a shadow root of its own, and works where only
 * scripts, styles and connections of this origin are allowed.
 */
import { createRoot, type Root } from 'react-dom/client'
import type { PageConfig } from '../document.ts'
import { defaultMessages } from '../texts/messages.ts'
import type { SettingsProps } from './settings-components.tsx'
import { pageOf, propsOf } from './main.tsx'

/** This script, beside which the pages are: behind a proxy it knows the address better than the server does. */
const here = import.meta.url

/** Milliseconds after which a request counts as unanswered. */
const timeout = 15_000

/** Style sheets by address: elements of one look share theirs. */
const sheetsByAddress = new Map<string, Promise<CSSStyleSheet>>()

/** What the attributes want to be shown. */
interface Wanted {
  /** `preferences` or `manage` */
  readonly page: string
  readonly group: string | undefined
  readonly keys: readonly string[] | undefined
  readonly isEmbedded: boolean
}

/** What is needed to show it. */
interface Content {
  readonly config: PageConfig
  readonly sheets: CSSStyleSheet[]
  readonly props: SettingsProps
}

class SettingsElement extends HTMLElement {
  static readonly observedAttributes = ['page', 'group', 'keys', 'address']

  readonly #shadow = this.attachShadow({ mode: 'open' })
  /** What is shown, or will be once it is loaded. */
  #wanted: Wanted | undefined
  #root: Root | undefined
  #isDue = false

  constructor() {
    super()
    this.#shadow.append(document.createElement('slot')) // what the host says until the page is there
  }

  connectedCallback(): void {
    this.#updateSoon()
  }

  disconnectedCallback(): void {
    this.#updateSoon()
  }

  attributeChangedCallback(): void {
    this.#updateSoon()
  }

  /** Once for all attributes; an element that is only moved to another place keeps what was entered. */
  #updateSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      if (this.isConnected) void this.#show()
      else this.#hide()
    })
  }

  #hide(): void {
    this.#root?.unmount()
    this.#wanted = undefined
    this.#shadow.replaceChildren(document.createElement('slot'))
  }

  async #show(): Promise<void> {
    const wanted: Wanted = {
      page: this.getAttribute('page') ?? 'preferences',
      group: this.getAttribute('group') ?? undefined,
      keys: this.getAttribute('keys')?.trim().split(/\s+/),
      isEmbedded: !this.hasAttribute('address'),
    }
    if (JSON.stringify(this.#wanted) === JSON.stringify(wanted)) return
    this.#root?.unmount()
    this.#wanted = wanted
    try {
      const content = await load(wanted)
      if (this.#wanted === wanted) this.#render(wanted, content)
    } catch (error) {
      if (this.#wanted === wanted) this.#sayFailure(error, wanted)
    }
  }

  #render(part: Wanted, { sheets, config, props }: Content): void {
    const around = document.createElement('div')
    around.className = 'fm-embed'
    around.lang = config.locale
    around.dir = config.direction
    around.dataset['theme'] = config.scheme
    this.#shadow.adoptedStyleSheets = sheets
    this.#shadow.replaceChildren(around)
    const dispatch = (type: string, detail?: unknown): void =>
      void this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }))
    const events = {
      onSaved: (keys: readonly string[]) => dispatch('fm-saved', { keys }),
      onDirtyChange: (isDirty: boolean) => dispatch('fm-dirty', { isDirty }),
      onPreview: (key: string, value: unknown) => dispatch('fm-preview', { key, value }),
    }
    this.#root = createRoot(around)
    this.#root.render(pageOf(config, { ...props, ...events }, part))
  }

  /** In English, and in the host's style: neither texts nor styles are there. */
  #sayFailure(error: unknown, { page }: Wanted): void {
    const retry = (): void => {
      this.#hide()
      void this.#show()
    }
    const isSignedOut = error instanceof Error && error.cause === 401
    this.#root = createRoot(this.#shadow)
    this.#root.render(
      <p role="alert">
        {defaultMessages.loadFailed} <button onClick={retry}>{defaultMessages.tryAgain}</button>{' '}
        {isSignedOut && (
          <a href={new URL(`../${encodeURIComponent(page)}`, here).href} target="_blank" rel="noopener">
            {defaultMessages.signIn}
          </a>
        )}
      </p>,
    )
  }
}

async function load({ page, isEmbedded }: Wanted): Promise<Content> {
  const address = new URL(`../${encodeURIComponent(page)}.json`, here)
  const absolute = (path: string): string => new URL(path, address).href
  const config = (await (await request(address.href)).json()) as PageConfig // of our own server
  const texts = config.texts === undefined ? {} : { texts: absolute(config.texts) }
  const [sheets, props] = await Promise.all([
    Promise.all(config.styles.map((style) => styleOf(absolute(style)))),
    propsOf({ ...config, ...texts, baseUrl: absolute(config.baseUrl) }, request),
  ])
  return { config, sheets, props: { ...props, isEmbedded, signInHref: absolute(`./${page}`) } }
}

function styleOf(address: string): Promise<CSSStyleSheet> {
  const made = sheetsByAddress.get(address) ?? makeStyle(address)
  sheetsByAddress.set(address, made)
  made.catch(() => sheetsByAddress.delete(address))
  return made
}

async function makeStyle(address: string): Promise<CSSStyleSheet> {
  const css = await (await request(address)).text()
  return new CSSStyleSheet().replace(css)
}

/** @throws {Error} the server did not answer, or not with what was asked for: its cause is the status */
async function request(address: string): Promise<Response> {
  const response = await fetch(address, {
    headers: { accept: 'application/json, text/css' }, // a gate does not send to its login
    signal: AbortSignal.timeout(timeout),
  })
  if (!response.ok) throw new Error(`${address}: ${response.status}`, { cause: response.status })
  return response
}

// A document may load the script twice, from two addresses.
if (!customElements.get('fm-settings')) customElements.define('fm-settings', SettingsElement)
