/** HTML from templates: whatever is put in is escaped, unless it is such HTML itself. */

/** Markup that may be sent as it is. */
export class Html {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }
}

type Part = Html | string | number | false | null | undefined | readonly Part[]

/** Markup: html`<p>${text}</p>`. Lists are joined; false, null and undefined add nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(markupOf)))
}

function markupOf(part: Part): string {
  if (part === false || part === null || part === undefined) return ''
  if (part instanceof Html) return part.toString()
  if (typeof part === 'object') return part.map(markupOf).join('')
  return escapeHtml(String(part))
}

/** The text, harmless in elements and in quoted attributes. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
