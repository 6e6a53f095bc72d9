/** The part of a browser's page that the live client uses; Node has none. */

interface Page {
  readonly visibilityState: string
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

export interface Channel<Message> {
  postMessage(message: Message): void
  addEventListener(name: 'message', listener: (event: { readonly data: Message }) => void): void
  close(): void
}

/** What tabs of a browser have in common. */
export interface Tabs {
  readonly locks: {
    request(
      name: string,
      how: { readonly signal: AbortSignal } | { readonly steal: true },
      task: () => Promise<void>,
    ): Promise<void>
  }
  open<Message>(name: string): Channel<Message>
}

/** Undefined where pages cannot share: without a secure context, and in Node. */
export function findTabs(): Tabs | undefined {
  const { navigator, BroadcastChannel } = globalThis as unknown as {
    readonly navigator?: { readonly locks?: Tabs['locks'] }
    readonly BroadcastChannel?: new <Message>(name: string) => Channel<Message>
  }
  const locks = navigator?.locks
  if (!currentPage() || !locks || !BroadcastChannel) return undefined
  return { locks, open: (name) => new BroadcastChannel(name) }
}
