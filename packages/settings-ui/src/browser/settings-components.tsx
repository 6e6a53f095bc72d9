/** The public components, and what their pages are made of: the API, the editor and the texts. */
import { createSettingsClient } from '@fastify-modular/settings/client'
import { type ReactNode, useEffect, useId, useLayoutEffect, useMemo, useRef } from 'react'
import { defaultMessages, type Messages } from '../texts/messages.ts'
import type { Preview } from '../preview.ts'
import { SettingsEditor } from './model/editor.ts'
import { Previewer, type ShowPreview } from './model/previewer.ts'
import { createAccess, ownSource, sharedSource } from './model/source.ts'
import type { PageContext } from './page-context.ts'
import { SettingsPage } from './page/settings-page.tsx'
import type { PagePart } from './page/use-results.ts'

export type { PagePart }

/** Shows and changes all settings that the caller may see: `<ManageSettings canUpdate isAdmin />`. */
export function ManageSettings(props: SettingsProps): ReactNode {
  return <Settings {...props} isOwn={false} />
}

/** The settings of one group, to stand on a page of the host: `<SettingsGroup group="Mail" canUpdate />`. */
export function SettingsGroup(props: SettingsProps & { readonly group: string }): ReactNode {
  return <Settings {...props} isOwn={false} />
}

/** Shows and changes the caller's own settings, all or those of one group: `<Preferences canUpdate />`. */
export function Preferences(props: PreferencesProps): ReactNode {
  return <Settings {...props} isOwn />
}

/** The administration or the preferences, or a part of either. */
export function Settings({
  group,
  keys,
  isOwn,
  ...props
}: SettingsProps & PagePart & { readonly isOwn: boolean }): ReactNode {
  const context = useSettingsPage(props, isOwn)
  const { manage, preferences } = context.messages
  const heading = group ?? (isOwn ? preferences : manage)
  return <SettingsPage context={context} heading={heading} part={{ group, keys }} />
}

type PreferencesProps = Omit<SettingsProps, 'isAdmin'> & { readonly group?: string | undefined }

/** What all settings components take. What was entered outlives every change of them but that of `baseUrl`. */
export interface SettingsProps {
  /** Where the HTTP API of settings is. @default '/api/settings' */
  readonly baseUrl?: string
  /** Makes the requests, for hosts that add a header. @default the browser's */
  readonly fetch?: typeof globalThis.fetch
  /** Whether to offer changes; the API decides for itself. */
  readonly canUpdate: boolean
  /** The id of the reader: what they change in another window appears without their name. */
  readonly callerId?: string
  /** Whether to offer changes of System settings. @default false */
  readonly isAdmin?: boolean
  /** For dates, order and plurals, and the language in which definitions are requested. @default 'en', and definitions as the browser says */
  readonly locale?: string
  /** The language in which definitions are requested, where it is another one; null: as the browser says. @default locale */
  readonly definitionsLocale?: string | null
  /** Texts that differ from the English ones. */
  readonly messages?: Partial<Messages>
  /**
   * The key of the User setting that says `light` or `dark`: on the preferences page the `data-theme` of the document, or
   * of the first element in its shadow root, follows it as it changes.
   */
  readonly themeSetting?: string
  /**
   * What the ids of the component's elements begin with, for hosts that link to them: the id of the list, where a skip
   * link leads, is `<id>-settings`. Two components on a page need two. @default one that React makes up
   */
  readonly id?: string
  /** Leaves the address and the title of the window alone. @default false: they carry group, search and filters, and the number of errors */
  readonly isEmbedded?: boolean
  /** Where an ended session is renewed, in a new tab. @default the address of the window: the gate leads there by way of the login */
  readonly signInHref?: string
  /** Called when something becomes unsaved and when nothing is any more, for hosts whose links load no new document. */
  readonly onDirtyChange?: (isDirty: boolean) => void
  /** What is shown before it is saved, on pages other than the preferences; `onPreview` shows it. */
  readonly preview?: Preview
  /**
   * Called with a key of `preview` and the value that it would have, at most once a frame; with undefined when what is saved is
   * to be shown again. For the keys that `onSaved` names it is not called: what was previewed is what is saved now.
   */
  readonly onPreview?: ShowPreview
  /**
   * Called after each change that was made from here, for hosts that show what the settings say, with the keys of the drafts that
   * it has saved: none when values were reset, put back or imported.
   */
  readonly onSaved?: (keys: readonly string[]) => void
}

const nothing: Preview = {}

/** The context of a page, made of the properties of its component. */
function useSettingsPage(
  props: SettingsProps,
  isOwn: boolean,
): Omit<PageContext, 'open' | 'reveal' | 'save'> {
  const { baseUrl = '/api/settings', canUpdate, isAdmin = false, locale = 'en' } = props
  const madeUpId = useId()
  const { id = madeUpId, isEmbedded = false, signInHref, callerId } = props
  const root = useRef<HTMLDivElement>(null)
  const messages = useTexts(props.messages)

  // Hosts write functions in line: the latest are called, and a new one changes nothing else.
  const latest = useRef({ props, messages, locale })
  useLayoutEffect(() => {
    latest.current = { props, messages, locale }
  })
  const { api, access, editor, previewer, onDirtyChange } = useMemo(() => {
    const access = createAccess(baseUrl, () => {
      const { fetch, locale, definitionsLocale = locale } = latest.current.props
      return { fetch, locale: definitionsLocale ?? undefined }
    })
    const api = createSettingsClient(access)
    const onSaved = (keys: readonly string[]): void => {
      notifyOtherTabs()
      latest.current.props.onSaved?.(keys)
    }
    const source = isOwn ? ownSource(api) : sharedSource(api)
    const editor = new SettingsEditor(source, () => latest.current, onSaved)
    return {
      api,
      access,
      editor,
      previewer: new Previewer(editor, () => (isOwn ? {} : latest.current.props)),
      onDirtyChange: (isDirty: boolean) => latest.current.props.onDirtyChange?.(isDirty),
    }
  }, [baseUrl, isOwn])

  useFreshness(editor, props.locale)
  const themeSetting = isOwn ? props.themeSetting : undefined
  const { preview = nothing } = props
  const page = {
    id,
    isEmbedded,
    signInHref,
    callerId,
    editor,
    preview,
    messages,
    locale,
    canUpdate,
    isAdmin,
    themeSetting,
  }
  return useMemo(() => ({ ...page, root, api, access, previewer, onDirtyChange }), Object.values(page))
}

/** All texts; the same object while they say the same, because every row is rendered again for another. */
function useTexts(texts: Partial<Messages> | undefined): Messages {
  const content = JSON.stringify(texts)
  return useMemo(() => ({ ...defaultMessages, ...texts }), [content])
}

/** On it, the tabs of this browser learn that one of them has saved. */
export const channelName = 'fm-settings'

/** Notifies the other tabs of this browser of a save. */
function notifyOtherTabs(): void {
  const channel = new BroadcastChannel(channelName)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  channel.postMessage('saved')
  channel.close()
}

/** Loads, again for each other locale, and refreshes after a save in another tab and when the window comes back. */
function useFreshness(editor: SettingsEditor, locale: string | undefined): void {
  useEffect(() => void editor.load(), [editor, locale])
  useEffect(() => {
    // A window that comes back is shown and gets the focus: that is one return.
    let isUnderWay = false
    const refresh = (): void => {
      if (document.visibilityState !== 'visible' || isUnderWay || editor.isLive) return
      isUnderWay = true
      void editor.refresh().finally(() => (isUnderWay = false))
    }
    const channel = new BroadcastChannel(channelName)
    channel.addEventListener('message', () => !editor.isLive && void editor.refresh())
    addEventListener('focus', refresh)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      channel.close()
      removeEventListener('focus', refresh)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [editor])
}
