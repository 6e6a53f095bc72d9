/** Puts together what a page needs from the properties that its component takes. */
import { useMemo } from 'react'
import { defaultMessages, type Messages } from '../messages/messages.ts'
import { createApi } from '../model/api.ts'
import { createEditor } from '../model/editor.ts'
import { ownSource, sharedSource } from '../model/source.ts'
import type { PageContext } from '../page/page-context.ts'
import { useFreshness, useTellOthers } from './use-freshness.ts'

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
  /** For dates, order and plurals. @default 'en' */
  readonly locale?: string
  /** Texts that differ from the English ones. */
  readonly messages?: Partial<Messages>
}

export function useSettingsPage(props: SettingsProps, isOwn: boolean): Omit<PageContext, 'open' | 'reveal'> {
  const { apiBase = '/api/settings', fetch, canUpdate, isAdmin = false, locale = 'en', messages } = props
  const tellOthers = useTellOthers()
  const texts = useMemo(() => ({ ...defaultMessages, ...messages }), [messages])
  const api = useMemo(() => createApi(apiBase, fetch), [apiBase, fetch])
  const editor = useMemo(
    () => createEditor(isOwn ? ownSource(api) : sharedSource(api), texts, locale, tellOthers),
    [api, isOwn, texts, locale, tellOthers],
  )
  useFreshness(editor)
  return useMemo(
    () => ({ editor, api, messages: texts, locale, canUpdate, isAdmin }),
    [editor, api, texts, locale, canUpdate, isAdmin],
  )
}
