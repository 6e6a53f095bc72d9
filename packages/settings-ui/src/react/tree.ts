/** Where a page stands: in the document, or in the shadow root of an element, whose ids, focus and keys are its own. */
export function treeOf(element: Element | null): Document | ShadowRoot {
  const tree = element?.getRootNode()
  return tree instanceof ShadowRoot ? tree : document
}

/** What has the focus, here or elsewhere in the window. */
export function focusedIn(tree: Document | ShadowRoot): Element | null {
  return tree.activeElement ?? document.activeElement
}

/** Calls for each key that is pressed in a tree; returns what ends that. */
export function listenToKeys(tree: Document | ShadowRoot, onKey: (event: KeyboardEvent) => void): () => void {
  const listen = (event: Event): void => void (event instanceof KeyboardEvent && onKey(event))
  tree.addEventListener('keydown', listen)
  return () => tree.removeEventListener('keydown', listen)
}
