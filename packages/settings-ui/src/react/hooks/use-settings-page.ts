/** Puts together what a page needs from the properties that its component takes. */
import { useEffect, useMemo } from 'react'
import { defaultMessages, type Messages } from '../messages/messages.ts'
import { createApi } from '../model/api.ts'
import { createEditor } from '../model/editor.ts'
import { ownSource, sharedSource } from '../model/source.ts'
import type { PageContext } from '../page/page-context.ts'
import { tellOthers, useFreshness } from './use-freshness.ts'

/** What all settings components take. Properties must keep their identity while the page lives. */
export interface SettingsProps {
  /** Where the HTTP API of settings is. @default '/api/settings' */
  readonly apiBase?: string
  /** How requests are made, for hosts that add a header. @default the browser's */
  readonly fetch?: typeof globalThis.fetch
  /** Whether to offer changes; the API decides for itself. */
  readonly canUpdate: boolean
  /** Whether to offer changes of System settings. @default false */
  readonly isAdmin?: boolean
  /** For dates, order and plurals, and to ask for definitions in. @default 'en', and definitions as the browser says */
  readonly locale?: string
  /** Texts that differ from the English ones. */
  readonly messages?: Partial<Messages>
  /** Is told whether something is unsaved, for hosts whose links do not load a new document. */
  readonly onDirtyChange?: (isDirty: boolean) => void
  /** Is told after each change that was saved from here, for hosts that show what the settings say. */
  readonly onSaved?: () => void
}

export function useSettingsPage(
  props: SettingsProps,
  isOwn: boolean,
): Omit<PageContext, 'open' | 'reveal' | 'save'> {
  const {
    apiBase = '/api/settings',
    fetch,
    canUpdate,
    isAdmin = false,
    locale = 'en',
    messages,
    onDirtyChange,
    onSaved,
  } = props
  const page = useMemo(() => {
    const texts = { ...defaultMessages, ...messages }
    const api = createApi(apiBase, fetch, props.locale)
    const editor = createEditor(isOwn ? ownSource(api) : sharedSource(api), texts, locale, () => {
      tellOthers()
      onSaved?.()
    })
    return { editor, api, messages: texts, locale }
  }, [apiBase, fetch, isOwn, messages, locale, onSaved])
  const { editor } = page
  useFreshness(editor)
  useEffect(() => {
    let isDirty = false
    return editor.subscribe(() => {
      const hasDrafts = editor.getState().drafts.size > 0
      if (hasDrafts !== isDirty) onDirtyChange?.(hasDrafts)
      isDirty = hasDrafts
    })
  }, [editor, onDirtyChange])
  return useMemo(() => ({ ...page, canUpdate, isAdmin }), [page, canUpdate, isAdmin])
}
