/** The part of a browser's page that the live client uses; Node has none. */

interface Page {
  readonly visibilityState: string
  readonly baseURI: string
  getElementById(id: string): { readonly textContent: string | null } | null
  addEventListener(name: string, listener: () => void, options: { readonly signal: AbortSignal }): void
}

export function currentPage(): Page | undefined {
  return Reflect.get(globalThis, 'document') as Page | undefined
}

export function isVisible(): boolean {
  return currentPage()?.visibilityState !== 'hidden'
}

/** Calls the listener at each event of the page, until the signal aborts. */
export function onPage(
  name: 'visibilitychange' | 'pageshow' | 'pagehide' | 'online',
  listener: () => void,
  signal: AbortSignal,
): void {
  const target = Reflect.get(globalThis, name === 'visibilitychange' ? 'document' : 'window')
  ;(target as Page | undefined)?.addEventListener(name, listener, { signal })
}

/** The global object of the page that this one is a frame of; undefined where it is none. */
export function parentOf(): object | undefined {
  const { parent } = globalThis as { readonly parent?: object }
  return parent === globalThis ? undefined : parent
}
