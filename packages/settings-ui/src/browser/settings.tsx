/** The administration, the preferences, or a part of either, and what it is made of: the API, the editor and the texts. */
import { createSettingsClient } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { PageConfig } from '../document.ts'
import { defaultMessages, type Messages } from '../texts/messages.ts'
import { SettingsEditor } from './model/editor.ts'
import { Previewer, type ShowPreview } from './model/previewer.ts'
import { createAccess, ownSource, sharedSource } from './model/source.ts'
import { SettingsPage } from './page/settings-page.tsx'
import type { PagePart } from './page/use-results.ts'

interface SettingsProps {
  /** What the server says about reader, language and look: another one changes nothing that was entered. */
  readonly config: PageConfig
  /** The texts of the language, those of the host among them; what is missing is English. */
  readonly texts: Partial<Messages>
  readonly part: PagePart
  readonly host: Host
}

/** What is around a page, the same one as long as the page is there. */
export interface Host {
  /** What the ids of elements begin with: a skip link leads to `<id>-settings`. @default one that is made up */
  readonly id?: string | undefined
  /** Leaves the address and the title of the window alone. */
  readonly isEmbedded: boolean
  /** Where an ended session is renewed, in a new tab. @default the address of the window: the gate leads there by way of the login */
  readonly signInHref?: string | undefined
  /** Called once values can be entered. */
  readonly onReady: (editor: SettingsEditor) => void
  /** Called when something becomes unsaved and when nothing is any more. */
  readonly onDirtyChange: (isDirty: boolean) => void
  /** Called for settings of `config.preview`; not for those that `onSaved` names: what was previewed is what is saved now. */
  readonly onPreview: ShowPreview
  /** Called after each change that was made from here, with the keys of the drafts that it has saved: none when values were reset, put back or imported. */
  readonly onSaved: (keys: readonly string[]) => void
  /** Called after each change that was made in this browser, from here and in other tabs. */
  readonly onSavedAnywhere: () => void
}

export function Settings({ config: given, texts, part, host }: SettingsProps): ComponentChildren {
  const config = useSame(given)
  const messages = useSame({ ...defaultMessages, ...texts })
  const { page, baseUrl, locale, definitionsLocale, preview = nothing } = config
  const isOwn = page === 'preferences'
  const root = useRef<HTMLDivElement>(null)
  const madeUpId = useId()

  const latest = useRef({ messages, locale, definitionsLocale, preview })
  useLayoutEffect(() => {
    latest.current = { messages, locale, definitionsLocale, preview }
  })
  const made = useMemo(() => {
    const access = createAccess(baseUrl, () => ({ locale: latest.current.definitionsLocale }))
    const api = createSettingsClient(access)
    const onSaved = (keys: readonly string[]): void => {
      notifyOtherTabs()
      host.onSaved(keys)
    }
    const source = isOwn ? ownSource(api) : sharedSource(api)
    const editor = new SettingsEditor(source, () => latest.current, onSaved)
    const { onPreview } = host
    const previewer = new Previewer(editor, () =>
      isOwn ? {} : { preview: latest.current.preview, onPreview },
    )
    return { api, access, editor, previewer }
  }, [baseUrl, isOwn, host])

  useFreshness(made.editor, locale, host)
  useEffect(() => whenReady(made.editor, () => host.onReady(made.editor)), [made.editor, host])
  const context = useMemo(
    () => ({
      ...host,
      ...config,
      ...made,
      root,
      id: host.id ?? madeUpId,
      preview,
      messages,
      signInHref: host.signInHref,
      callerId: config.callerId,
      themeSetting: themeSettingOf(config),
    }),
    [host, config, made, messages],
  )
  const heading = part.group ?? messages[page]
  return <SettingsPage context={context} heading={heading} part={part} />
}

const nothing = {}

/** The key of the setting that chooses the scheme around its page: of the preferences alone. */
export function themeSettingOf({ page, themeSetting }: PageConfig): string | undefined {
  return page === 'preferences' ? themeSetting : undefined
}

/** The same object while it says the same: every row is drawn again for another. */
function useSame<T>(value: T): T {
  return useMemo(() => value, [JSON.stringify(value)])
}

/** On it, the tabs of this browser learn that one of them has saved. */
const channelName = 'fm-settings'

/** Notifies the other tabs of this browser of a save. */
function notifyOtherTabs(): void {
  const channel = new BroadcastChannel(channelName)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  channel.postMessage('saved')
  channel.close()
}

/** Calls back once, as soon as the editor has its values. */
function whenReady(editor: SettingsEditor, callback: () => void): () => void {
  const look = (): void => {
    if (editor.state.phase !== 'ready') return
    stop()
    callback()
  }
  const stop = editor.subscribe(look)
  look()
  return stop
}

/** Loads, again for each other locale, and refreshes after a save in another tab and when the window comes back. */
function useFreshness(editor: SettingsEditor, locale: string, host: Host): void {
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
    channel.addEventListener('message', () => {
      host.onSavedAnywhere()
      if (!editor.isLive) void editor.refresh()
    })
    addEventListener('focus', refresh)
    document.addEventListener('visibilitychange', refresh)
    return () => {
      channel.close()
      removeEventListener('focus', refresh)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [editor, host])
}
