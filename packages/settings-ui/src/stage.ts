/** @fastify-modular/settings-ui/stage: shows in a document what is not saved yet. For browsers, without dependencies. */
import { accentShades } from './accent.ts'
export { hueOf } from './people.ts'
import type { Preview, PreviewTarget } from './preview.ts'

/** What shows drafts of settings in the document: returned by `createStage`. */
export interface Stage {
  /** Shows a value; undefined: what was there before. */
  show(key: string, value: unknown): void
  /** Leaves these keys as they are shown: they are saved. */
  settle(keys: readonly string[]): void
  /** Shows all of it anew, after the document was drawn anew. */
  showAgain(): void
}

/**
 * Shows drafts of settings in the document: texts and images of elements with `data-fm-preview="title"`, `"banner"` or
 * `"logo"`, `data-theme` and `data-density` of `<html>`, and `--fm-accent`, in a shade that is easy to read.
 * @param preview what each setting shows, by key: `{ 'app.title': 'title', 'app.primary_color': 'accent' }`
 */
export function createStage(preview: Preview): Stage {
  const root = document.documentElement
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  const shown = new Map<string, unknown>()
  /** Put back what the server said, by key. */
  const undo = new Map<string, () => void>()

  function show(key: string, value: unknown): void {
    const target = preview[key]
    if (value === undefined) {
      undo.get(key)?.()
      settle([key])
    } else if (target) {
      const back = put(target, String(value ?? ''))
      shown.set(key, value)
      if (!undo.has(key)) undo.set(key, back)
    }
  }

  /** Returns what puts back what was there. */
  function put(target: PreviewTarget, text: string): () => void {
    if (target === 'accent') {
      const { token } = accentShades(text)
      sheet.replaceSync(token && `:root,fm-settings{--fm-accent:${token}}`)
      return () => sheet.replaceSync('')
    }
    if (target === 'theme' || target === 'density') return setAttribute(root, `data-${target}`, text)
    const isText = typeof target === 'string'
    const element = document.querySelector(`[data-fm-preview=${isText ? target : target.slot}]`)
    if (!element) return () => undefined
    if (!isText) return setAttribute(element, 'src', target.values[text])
    const { textContent } = element
    element.textContent = text
    return () => (element.textContent = textContent)
  }

  function settle(keys: readonly string[]): void {
    for (const key of keys) {
      shown.delete(key)
      undo.delete(key)
    }
  }

  function showAgain(): void {
    undo.clear()
    sheet.replaceSync('')
    for (const [key, value] of shown) show(key, value)
  }

  return { show, settle, showAgain }
}

/** Returns what puts back what was there. */
function setAttribute(element: Element, name: string, value: string | null | undefined): () => void {
  const before = element.getAttribute(name)
  if (value == null) element.removeAttribute(name)
  else element.setAttribute(name, value)
  return () => void setAttribute(element, name, before)
}
