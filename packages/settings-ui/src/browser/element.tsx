/**
 * `<fm-settings>`: the settings pages as an element of any page. There it has a shadow root of its own, and works where only
 * scripts, styles and connections of this origin are allowed. The prebuilt page is a document with one, which it fills.
 */
import { render } from 'preact'
import type { PageConfig } from '../document.ts'
import { type Content, load, withTexts } from './content.ts'
import type { SettingsEditor } from './model/editor.ts'
import { type OwnDocument, ownDocument } from './own-document.ts'
import type { Host } from './page-context.ts'
import { Settings } from './settings.tsx'
import { SignInLink } from './sign-in.tsx'
import type { PagePart } from './view/use-results.ts'
// oxlint-disable-next-line import/no-unassigned-import -- Vite puts it into the style sheet
import './styles.css'

declare global {
  interface HTMLElementEventMap {
    'fm-preview': CustomEvent<{ readonly key: string; readonly value: unknown }>
    'fm-saved': CustomEvent<{ readonly keys: readonly string[] }>
  }
}

/** This script, beside which the pages are: behind a proxy it knows the address better than the server does. */
const here = import.meta.url

/** What the attributes want to be shown. */
interface Wanted extends PagePart {
  /** `preferences`, `manage` or `tenant` */
  readonly page: string
  /** The organisation that is meant. */
  readonly tenant: string | undefined
  readonly isEmbedded: boolean
}

class SettingsElement extends HTMLElement {
  static readonly observedAttributes = ['page', 'group', 'keys', 'tenant', 'address']

  #own: OwnDocument | undefined
  /** What is shown, or will be once it is loaded. */
  #wanted: Wanted | undefined
  /** Where it is drawn. */
  #place: Element | ShadowRoot | undefined
  #isDue = false
  #editor: SettingsEditor | undefined
  /** What is entered once there is an editor. */
  #entered: Readonly<Record<string, string>> = {}

  /** Enters values, by the keys of their settings and as people type them: they are unsaved until the reader saves them. */
  enter(values: Readonly<Record<string, string>>): void {
    if (this.#editor) this.#editor.enter(values)
    else this.#entered = { ...this.#entered, ...values }
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

  /** Shows what the host says until there is something else. */
  #hide(): void {
    this.#wanted = undefined
    this.#editor = undefined
    if (this.#place) render(null, this.#place)
    this.shadowRoot?.replaceChildren(document.createElement('slot'))
  }

  async #show(): Promise<void> {
    const wanted: Wanted = {
      page: this.getAttribute('page') ?? 'preferences',
      group: this.getAttribute('group') ?? undefined,
      keys: this.getAttribute('keys')?.trim().split(/\s+/),
      tenant: this.getAttribute('tenant') ?? undefined,
      isEmbedded: !this.hasAttribute('address'),
    }
    if (JSON.stringify(this.#wanted) === JSON.stringify(wanted)) return
    this.#hide()
    this.#wanted = wanted
    const dispatch = (type: string, detail: unknown): void =>
      void this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }))
    this.#own ??= ownDocument(this)
    const host: Host = {
      isEmbedded: wanted.isEmbedded,
      ...(this.#own && { id: 'fm' }),
      onReady: (editor) => {
        this.#editor = editor
        editor.enter(this.#entered)
        this.#entered = {}
      },
      onSaved: (keys) => dispatch('fm-saved', { keys }),
      onDirtyChange: (isDirty) => dispatch('fm-dirty', { isDirty }),
      onPreview: (key, value) => dispatch('fm-preview', { key, value }),
      // Language, scheme and styles may follow from settings. Where they cannot be loaded, those of before stay.
      readLook: () =>
        void Promise.resolve(this.#own?.readAgain())
          .then((config) => this.#draw(wanted, host, config))
          .catch(() => undefined),
    }
    try {
      await this.#draw(wanted, host, this.#own?.config)
    } catch (error) {
      if (this.#wanted === wanted) this.#sayFailure(error)
    }
  }

  /** @param config of the own document; elsewhere the server is asked */
  async #draw(wanted: Wanted, host: Host, config: PageConfig | undefined): Promise<void> {
    const content = config
      ? await withTexts(config, document.baseURI)
      : await load(`${addressOf(wanted.page)}.json`, wanted.tenant)
    if (this.#wanted !== wanted) return
    const place = config ? this : this.#placeOf(content)
    if (place !== this.#place) place.replaceChildren()
    this.#place = place
    render(<Settings {...content} part={wanted} host={host} />, place)
  }

  /** What the page is drawn in, in documents of hosts. */
  #placeOf({ sheets, config }: Content): Element {
    const shadow = this.#shadow()
    const before = shadow.querySelector<HTMLElement>('.fm-embed')
    const place = before ?? document.createElement('div')
    place.className = 'fm-embed'
    place.lang = config.locale
    place.dir = config.direction
    // A setting that chooses it has done so since.
    if (!before || config.themeSetting === undefined) place.dataset['theme'] = config.scheme
    shadow.adoptedStyleSheets = sheets
    if (!before) shadow.replaceChildren(place)
    return place
  }

  /** In English, and in the host's style: neither texts nor styles are there. */
  #sayFailure(error: unknown): void {
    const retry = (): void => {
      this.#hide()
      void this.#show()
    }
    const { cause, message } = error instanceof Error ? error : new Error()
    const isRefused = cause === 403 || cause === 404
    this.#place = this.#shadow()
    this.#place.replaceChildren()
    render(
      <p role="alert">
        {isRefused ? message : 'The settings could not be loaded.'} <button onClick={retry}>Try again</button>{' '}
        {cause === 401 && <SignInLink text="Sign in…" />}
      </p>,
      this.#place,
    )
  }

  #shadow(): ShadowRoot {
    return this.shadowRoot ?? this.attachShadow({ mode: 'open' })
  }
}

/** Where the page stands that an element shows. */
function addressOf(page: string): string {
  return new URL(`../${encodeURIComponent(page)}`, here).href
}

// A document may load the script twice, from two addresses.
if (!customElements.get('fm-settings')) customElements.define('fm-settings', SettingsElement)
