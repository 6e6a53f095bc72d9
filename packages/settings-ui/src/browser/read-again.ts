/** Takes over in the document of the prebuilt page what a save has changed in it. */
import { fadeIn } from './tree.ts'

/**
 * The server says anew what follows from settings: title, language, scheme, styles and what surrounds the page. Never ends
 * where the session has.
 * @param hasScheme false where the page chooses it
 */
export function readAgain(element: Element, hasScheme: boolean): Promise<Document> {
  const request = new XMLHttpRequest() // unlike DOMParser, it parses HTML where Trusted Types are required
  request.open('GET', '')
  request.responseType = 'document'
  return new Promise((resolve) => {
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- nobody else has this request, and each byte is sent
    request.onload = () => {
      const next = request.responseXML?.getElementById('fm-app')
      if (!next) return
      const page = next.ownerDocument
      const old = document.querySelectorAll('[rel=stylesheet]')
      const added = [...page.querySelectorAll('[rel=stylesheet]')]
      const settle = (spare: Iterable<Element>): void => {
        for (const link of spare) link.remove()
        for (const { name, value } of page.documentElement.attributes)
          if (hasScheme || name !== 'data-theme') document.documentElement.setAttribute(name, value)
        const toggle = document.getElementById('fm-preview')
        const before = shownIn(document)
        replaceAround(element, next)
        for (const [name, part] of shownIn(document)) {
          if (!part.isEqualNode(before.get(name) ?? null)) fadeIn(part)
        }
        if (toggle) document.getElementById('fm-preview')?.replaceWith(toggle)
        resolve(page)
      }
      // All at once: what is tried is at no moment away. Where the styles cannot be loaded, those of before stay.
      added.at(-1)?.addEventListener('load', () => settle(old))
      added.at(-1)?.addEventListener('error', () => settle(added))
      document.head.append(...added)
    }
    request.send()
  })
}

/** What settings show around a page, by its name. */
function shownIn(page: Document): ReadonlyMap<string | undefined, HTMLElement> {
  const parts = page.querySelectorAll<HTMLElement>('[data-fm-preview]')
  return new Map([...parts].map((part) => [part.dataset['fmPreview'], part]))
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
