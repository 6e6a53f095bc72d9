/** Puts together what a page needs from the properties that its component takes. */
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'react'
import { defaultMessages, type Messages } from '../messages/messages.ts'
import { createApi } from '../model/api.ts'
import { createEditor, type SettingsEditor } from '../model/editor.ts'
import { ownSource, sharedSource } from '../model/source.ts'
import type { PageContext } from '../shared/page-context.ts'
import { tellOthers, useFreshness } from './use-freshness.ts'

/** What all settings components take. What was entered outlives every change of them but that of `apiBase`. */
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
  /**
   * What the ids of the component's elements begin with, for hosts that link to them: the id of the list, where a skip
   * link leads, is `<id>-settings`. Two components on a page need two. @default one that React makes up
   */
  readonly id?: string
  /** Called when something becomes unsaved and when nothing is any more, for hosts whose links load no new document. */
  readonly onDirtyChange?: (isDirty: boolean) => void
  /** Called after each change that was saved from here, for hosts that show what the settings say. */
  readonly onSaved?: () => void
}

export function useSettingsPage(
  props: SettingsProps,
  isOwn: boolean,
): Omit<PageContext, 'open' | 'reveal' | 'save'> {
  const { apiBase = '/api/settings', canUpdate, isAdmin = false, locale = 'en' } = props
  const madeUpId = useId()
  const id = props.id ?? madeUpId
  const messages = useTexts(props.messages)

  // Hosts write functions in line: the latest are called, and a new one changes nothing else.
  const latest = useRef({ props, messages, locale })
  useLayoutEffect(() => {
    latest.current = { props, messages, locale }
  })
  const { api, editor } = useMemo(() => {
    const api = createApi(apiBase, () => latest.current.props)
    const onSaved = (): void => {
      tellOthers()
      latest.current.props.onSaved?.()
    }
    const source = isOwn ? ownSource(api) : sharedSource(api)
    return { api, editor: createEditor(source, () => latest.current, onSaved) }
  }, [apiBase, isOwn])

  useFreshness(editor, props.locale)
  useDirtyChange(editor, (isDirty) => latest.current.props.onDirtyChange?.(isDirty))
  return useMemo(
    () => ({ id, editor, api, messages, locale, canUpdate, isAdmin }),
    [id, editor, api, messages, locale, canUpdate, isAdmin],
  )
}

/** All texts; the same object while they say the same, because every row is rendered again for another. */
function useTexts(texts: Partial<Messages> | undefined): Messages {
  const content = JSON.stringify(texts)
  return useMemo(() => ({ ...defaultMessages, ...texts }), [content])
}

/** The last call is always one with `false`: what is gone with the component is not unsaved. */
function useDirtyChange(editor: SettingsEditor, onDirtyChange: (isDirty: boolean) => void): void {
  useEffect(() => {
    let isDirty = false
    const report = (hasDrafts: boolean): void => {
      if (hasDrafts === isDirty) return
      isDirty = hasDrafts
      onDirtyChange(hasDrafts)
    }
    const unsubscribe = editor.subscribe(() => report(editor.getState().drafts.size > 0))
    return () => {
      unsubscribe()
      report(false)
    }
  }, [editor])
}
