/** Keeps a page up to date: other tabs tell what they save, and a window that comes back looks for itself. */
import { useEffect } from 'react'
import type { SettingsEditor } from '../model/editor.ts'

const channelName = 'fm-settings'

/** Tells the other pages of this browser that something was saved. */
export function tellOthers(): void {
  const channel = new BroadcastChannel(channelName)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  channel.postMessage('saved')
  channel.close()
}

/** Loads, again in each other language, and refreshes rows without drafts when there may be news. */
export function useFreshness(editor: SettingsEditor, locale: string | undefined): void {
  useEffect(() => void editor.load(), [editor, locale])
  useEffect(() => {
    const refresh = (): void => void (document.visibilityState === 'visible' && editor.refresh())
    const channel = new BroadcastChannel(channelName)
    channel.addEventListener('message', () => void editor.refresh())
    addEventListener('focus', refresh)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      channel.close()
      removeEventListener('focus', refresh)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [editor])
}
