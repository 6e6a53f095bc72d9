/** What every part of a page needs. */
import { type SettingsClient, SettingScope } from '@fastify-modular/settings/client'
import { createContext, type RefObject } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import type { Messages } from '../texts/messages.ts'
import type { EditorState } from './model/editor-state.ts'
import type { Preview } from '../preview.ts'
import type { SettingsEditor } from './model/editor.ts'
import type { Previewer } from './model/previewer.ts'
import type { Definition, SettingValue } from './model/setting.ts'
import type { Access } from './model/source.ts'
import { useExternal } from './use-external.ts'

/** The dialogs of a page. */
export type OpenDialog =
  | { readonly kind: 'review' }
  | { readonly kind: 'import' }
  | { readonly kind: 'history'; readonly definition: Definition }
  | { readonly kind: 'reset'; readonly definition: Definition }
  /** A change set with secrets, or with settings whose change is to be confirmed. */
  | { readonly kind: 'revert'; readonly revision: number }

export interface PageContext {
  /** What the ids of its elements begin with. */
  readonly id: string
  /** Its element: a host may show several pages. */
  readonly root: RefObject<HTMLDivElement | null>
  /** Address and title of the window are the host's, and stay as they are. */
  readonly isEmbedded: boolean
  /** Where an ended session is renewed. */
  readonly signInHref: string | undefined
  readonly editor: SettingsEditor
  readonly previewer: Previewer
  /** The settings that are previewed. */
  readonly preview: Preview
  readonly api: SettingsClient
  readonly access: Access
  /** The id of the reader, if the host says it. */
  readonly callerId: string | undefined
  readonly messages: Messages
  readonly locale: string
  readonly canUpdate: boolean
  readonly isAdmin: boolean
  readonly open: (dialog: OpenDialog) => void
  /** Brings a setting into view, whatever group or search hides it, and puts the focus on it. */
  readonly reveal: (key: string) => void
  /** The key of the setting that chooses the scheme of what is around the page. */
  readonly themeSetting: string | undefined
  readonly onDirtyChange: (isDirty: boolean) => void
  /** Saves what is unsaved; first shows it, where a change is to be confirmed. */
  readonly save: () => void
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
    if (isAsked && editor.asks(updatedBy))
      api.get(key, scope).then(
        ({ people }) => editor.know(people ?? {}),
        () => void editor.asked.delete(updatedBy),
      )
  }, [api, editor, key, scope, updatedBy, isAsked])
  return name ?? updatedBy
}

/** Whether the caller may change a setting, as far as the page knows; an own value whoever may change the shared one. */
export function useMayChange({ scope, canWrite }: Pick<Definition, 'scope' | 'canWrite'>): boolean {
  const { editor, canUpdate, isAdmin } = usePage()
  const isForbidden = useEditor((state) => state.isForbidden)
  return canUpdate && !isForbidden && (scope !== SettingScope.System || isAdmin) && (editor.isOwn || canWrite)
}
