/**
 * `<fm-palette>`: settings and what the host offers, from any page, by ⌘K or Ctrl K. What it shows is loaded when it is
 * asked for. Where a settings page has a search of its own, that one keeps the keys.
 */
import type { PaletteItem } from '../palette-item.ts'
import type * as dialog from './palette-dialog.tsx'

/** This script, beside which the other one is. */
const here = import.meta.url

class PaletteElement extends HTMLElement {
  /** What the host offers for a query, empty at first; called with each key. */
  items: (query: string) => readonly PaletteItem[] | Promise<readonly PaletteItem[]> = () => []
  #listening: AbortController | undefined

  connectedCallback(): void {
    this.#listening = new AbortController()
    addEventListener('keydown', (event) => this.#press(event), { signal: this.#listening.signal })
  }

  disconnectedCallback(): void {
    this.#listening?.abort()
  }

  #press(event: KeyboardEvent): void {
    const isShortCut = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k'
    if (!isShortCut || event.altKey || event.shiftKey || event.defaultPrevented) return
    event.preventDefault()
    void this.open()
  }

  /** Opens it, for a button of the host's. */
  async open(): Promise<void> {
    // By its address: a bundler would put what loads modules into a file that the settings pages need.
    const address = new URL('palette-dialog.js', here).href
    const { showPalette } = (await import(/* @vite-ignore */ address)) as typeof dialog
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    const label = this.getAttribute('label') ?? undefined
    await showPalette(root, { items: (query) => this.items(query), label })
  }
}

if (!customElements.get('fm-palette')) customElements.define('fm-palette', PaletteElement)
