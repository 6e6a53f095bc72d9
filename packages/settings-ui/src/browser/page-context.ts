/** What every part of a page needs. */
import { type SettingsClient, SettingScope } from '@fastify-modular/settings/client'
import { type ComponentType, createContext, type RefObject } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import type { PageConfig } from '../document.ts'
import type { Messages } from '../texts/messages.ts'
import type { EditorState } from './model/editor-state.ts'
import type { Preview } from '../preview.ts'
import type { SettingsEditor } from './model/editor.ts'
import type { Previewer, ShowPreview } from './model/previewer.ts'
import type { Definition, SettingValue } from './model/setting.ts'
import type { Access } from './model/source.ts'
import { useExternal } from './use-external.ts'

/** What is around a page, the same one as long as the page is there. */
export interface Host {
  /** What the ids of elements begin with: a skip link leads to `<id>-settings`. @default one that is made up */
  readonly id?: string
  /** Leaves the address and the title of the window alone. */
  readonly isEmbedded: boolean
  /** Called when values can be entered: again after each load. */
  readonly onReady: (editor: SettingsEditor) => void
  /** Called when something becomes unsaved and when nothing is any more. */
  readonly onDirtyChange: (isDirty: boolean) => void
  /** Called for settings of `preview`; not for those that `onSaved` names: what was previewed is what is saved now. */
  readonly onPreview: ShowPreview
  /** Called after each change that was made from here, with the keys of the drafts that it has saved: none when values were reset, put back or imported. */
  readonly onSaved: (keys: readonly string[]) => void
  /** Takes over what follows from settings around the page: called after each change from here, and when others have changed what shows there. */
  readonly readLook: () => void
}

export interface PageContext extends PageConfig, Host {
  readonly id: string
  /** Its element: a host may show several pages. */
  readonly root: RefObject<HTMLDivElement | null>
  readonly editor: SettingsEditor
  readonly previewer: Previewer
  readonly preview: Preview
  readonly api: SettingsClient
  readonly access: Access
  readonly messages: Messages
  /** Of the page of an organisation. */
  readonly ofTenant: { readonly Heading: ComponentType<{ readonly text: string }> } | undefined
}

export const Context = createContext<PageContext | null>(null)

/** @throws {Error} outside of a settings page */
export function usePage(): PageContext {
  const context = useContext(Context)
  if (!context) throw new Error('No settings page around.')
  return context
}

/** A part of the state; the component is rendered again when it becomes another. */
export function useEditor<T>(select: (state: EditorState) => T): T {
  const { editor } = usePage()
  return useExternal(editor.subscribe, () => select(editor.state))
}

/** The name of whoever has written a value: asked for where no answer has brought it yet. */
export function useWriter({ key, scope, updatedBy }: SettingValue): string | null {
  const { api, editor, canUpdate } = usePage()
  const name = useEditor(({ people }) => (updatedBy === null ? undefined : people.get(updatedBy)))
  const isAsked = canUpdate && !editor.isOwn && updatedBy !== null && name === undefined
  useEffect(() => {
    if (isAsked) void editor.learnNames([updatedBy], () => api.get(key, scope))
  }, [api, editor, key, scope, updatedBy, isAsked])
  return name ?? updatedBy
}

/** Whether the caller may change settings, as far as the page knows; an own value whoever may change the shared one. */
export function useMayChange(
  ...settings: readonly (Pick<Definition, 'scope' | 'canWrite'> | undefined)[]
): boolean {
  const { editor, canUpdate, isAdmin } = usePage()
  const isForbidden = useEditor((state) => state.isForbidden)
  return (
    canUpdate &&
    !isForbidden &&
    settings.every(
      (each) => each && (each.scope !== SettingScope.System || isAdmin) && (editor.isOwn || each.canWrite),
    )
  )
}
