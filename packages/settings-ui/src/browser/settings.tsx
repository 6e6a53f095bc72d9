/** The administration, the preferences, or a part of either, and what it is made of: the API, the editor and the texts. */
import { createSettingsClient } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { PageConfig } from '../document.ts'
import type { Messages } from '../texts/messages.ts'
import { takeDrafts } from './kept-draft.ts'
import { SettingsEditor } from './model/editor.ts'
import { Previewer } from './model/previewer.ts'
import { createAccess, ownSource, sharedSource } from './model/source.ts'
import type * as tenantPage from './tenant-page.tsx'
import { Context, type Host } from './page-context.ts'
import { SettingsPage } from './page/settings-page.tsx'
import { useExternal } from './use-external.ts'
import type { PagePart } from './view/use-results.ts'

interface SettingsProps {
  /** What the server says about reader, language and look: another one changes nothing that was entered. */
  readonly config: PageConfig
  /** Of the language, those of the host among them. */
  readonly texts: Messages
  /** Of the page of an organisation. */
  readonly ofTenant: typeof tenantPage | undefined
  readonly part: PagePart & { readonly tenant: string | undefined }
  readonly host: Host
}

export function Settings({ config: given, texts, ofTenant, part, host }: SettingsProps): ComponentChildren {
  // Of the organisation in which the page was opened, whatever the server says later.
  const { heading: ofFirst, tenant } = useRef(given).current
  const heading = ofTenant ? ofFirst : given.heading
  const config = useSame({ ...given, heading, tenant })
  const messages = useSame(texts)
  const { page, baseUrl, locale, definitionsLocale, preview = nothing } = config
  const isOwn = page === 'preferences'
  const root = useRef<HTMLDivElement>(null)
  const madeUpId = useId()

  const latest = useRef({ messages, locale, definitionsLocale, preview })
  useLayoutEffect(() => {
    latest.current = { messages, locale, definitionsLocale, preview }
  })
  const made = useMemo(() => {
    const access = createAccess({ baseUrl, tenant: part.tenant }, () => latest.current.definitionsLocale)
    const api = createSettingsClient(access)
    const onSaved = (keys: readonly string[]): void => {
      host.onSaved(keys)
      host.readLook()
    }
    const source =
      ofTenant && tenant
        ? ofTenant.tenantSource({
            api,
            access,
            tenant: tenant.id,
            onElsewhere: () => editor.setElsewhere(true),
          })
        : isOwn
          ? ownSource(api)
          : sharedSource(api, { tenant: tenant?.id })
    const editor: SettingsEditor = new SettingsEditor(source, () => latest.current, onSaved)
    const previewer = new Previewer(editor, host.onPreview, () => ({
      ...latest.current,
      ...(isOwn && { preview: nothing }),
    }))
    return { api, access, editor, previewer }
  }, [baseUrl, isOwn, host, ofTenant])

  useFreshness(made.editor, locale)
  const isReady = useExternal(made.editor.subscribe, () => made.editor.state.phase === 'ready')
  useEffect(() => {
    if (!isReady) return
    if (ofTenant) made.editor.enter(takeDrafts(ofTenant.draftsName(config)))
    else if (!isOwn && !host.isEmbedded) made.editor.enter(takeDrafts(''))
    host.onReady(made.editor)
  }, [made.editor, host, isReady])
  const context = useMemo(
    () => ({ ...host, ...config, ...made, ofTenant, root, id: host.id ?? madeUpId, preview, messages }),
    [host, config, made, messages],
  )
  return (
    <Context.Provider value={context}>
      <SettingsPage heading={part.group ?? heading} part={part} />
    </Context.Provider>
  )
}

const nothing = {}

/** The same object while it says the same: every row is drawn again for another. */
function useSame<T>(value: T): T {
  return useMemo(() => value, [JSON.stringify(value)])
}

/** Loads, again for each other locale. Where no stream brings what others change, a window that comes back reads it. */
function useFreshness(editor: SettingsEditor, locale: string): void {
  useEffect(() => void editor.load(), [editor, locale])
  useEffect(() => {
    const refresh = (): void => void (editor.isLive || editor.refresh())
    addEventListener('focus', refresh)
    return () => removeEventListener('focus', refresh)
  }, [editor])
}
