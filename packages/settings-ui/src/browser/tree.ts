/** Where a page stands: in the document, or in the shadow root of an element, whose ids, focus and keys are its own. */
export function treeOf(element: Element | null): Document | ShadowRoot {
  const tree = element?.getRootNode()
  return tree instanceof ShadowRoot ? tree : document
}

/** Fades in what has changed, unless the reader wants less motion. */
export function fadeIn(element: Element | null | undefined): void {
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) element?.animate({ opacity: [0, 1] }, 140)
}

const isApple = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? '')

/** A short cut as keyboards have it: `⌘K` or `Ctrl K`. */
export function shortCutName(letter: string): string {
  return isApple ? `⌘${letter}` : `Ctrl ${letter}`
}

/**
 * Calls when ⌘ or Ctrl and this letter are pressed: anywhere in the document, or within this tree.
 * @returns what ends that
 */
export function listenToShortCut(
  letter: string,
  onPress: (event: KeyboardEvent) => void,
  tree: Document | ShadowRoot = document,
): () => void {
  const listen = (event: Event): void => {
    if (!(event instanceof KeyboardEvent) || event.key.toUpperCase() !== letter) return
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) onPress(event)
  }
  tree.addEventListener('keydown', listen)
  return () => tree.removeEventListener('keydown', listen)
}
