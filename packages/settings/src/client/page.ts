/** The part of a browser's page that the live client uses; Node has none. */

interface Page {
  readonly visibilityState: string
  addEventListener(
    name: string,
    listener: (event: PageEvent) => void,
    options: { readonly signal: AbortSignal | undefined },
  ): void
}

interface PageEvent {
  /** Whether the page comes back from, or goes to, where the browser keeps pages for its button "Back". */
  readonly persisted?: boolean
}

function currentPage(): Page | undefined {
  return Reflect.get(globalThis, 'document') as Page | undefined
}

export function isVisible(): boolean {
  return currentPage()?.visibilityState !== 'hidden'
}

/** Calls the listener at each event of the page, until the signal aborts. */
export function onPage(
  name: 'visibilitychange' | 'pageshow' | 'pagehide' | 'online',
  listener: (event: PageEvent) => void,
  signal?: AbortSignal,
): void {
  const target = Reflect.get(globalThis, name === 'visibilitychange' ? 'document' : 'window')
  ;(target as Page | undefined)?.addEventListener(name, listener, { signal })
}
