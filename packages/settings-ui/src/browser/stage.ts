/** Shows on a prebuilt page what is not saved yet: in the parts of its document that are marked with `data-fm-preview`. */
import { accentShades } from '../accent.ts'
import { type Preview, type PreviewTarget } from '../preview.ts'
import type { ShowPreview } from './model/previewer.ts'
import type { JsonValue } from './model/setting.ts'

export type Stage = ReturnType<typeof createStage>

export function createStage(preview: Preview) {
  const root = document.documentElement
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  const shown = new Map<string, JsonValue>()
  /** Put back what the server said, by key. */
  const undo = new Map<string, () => void>()

  const show: ShowPreview = (key, value) => {
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
      sheet.replaceSync(token && `:root{--fm-accent:${token}}`)
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

  /** These keys are saved: they stay as they are shown. */
  function settle(keys: readonly string[]): void {
    for (const key of keys) {
      shown.delete(key)
      undo.delete(key)
    }
  }

  /** Call it when the document was read anew. */
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
