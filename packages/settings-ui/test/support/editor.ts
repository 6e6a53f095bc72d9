/** The editor of a page over the real API, without a browser. */
import { createSettingsClient } from '@fastify-modular/settings/client'
import type { FastifyInstance } from 'fastify'
import { textsOf } from '#src/texts/texts.js'
import { SettingsEditor } from '#src/browser/model/editor.js'
import type { Definition, Draft, Input, SettingValue } from '#src/browser/model/setting.js'
import { ownSource, sharedSource } from '#src/browser/model/source.js'

/** What a browser sends, sent to an application that does not listen. */
export function fetchFrom(app: FastifyInstance, user: string): typeof fetch {
  return async (input, { method = 'GET', headers, body } = {}) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: String(input),
      headers: { ...(headers as Record<string, string>), cookie: `user=${user}` },
      ...(typeof body === 'string' && { payload: body }),
    })
    const content = answer.rawPayload.length > 0 ? new Uint8Array(answer.rawPayload) : null
    return new Response(content, {
      status: answer.statusCode,
      headers: { 'content-type': String(answer.headers['content-type'] ?? '') },
    })
  }
}

interface EditorOptions {
  readonly isOwn?: boolean
  readonly onSaved?: () => void
  /** Stands in front of the application: holds answers back, or refuses. */
  readonly fetch?: (request: typeof fetch) => typeof fetch
}

export interface StartedEditor {
  readonly editor: SettingsEditor
  readonly definitionOf: (key: string) => Definition
  readonly enter: (key: string, input: Input) => void
  readonly draftOf: (key: string) => Draft | undefined
  readonly valueOf: (key: string) => SettingValue | undefined
  readonly shown: (key: string) => SettingValue['value'] | undefined
}

/** The editor of a caller, with the settings loaded. */
export async function startEditor(
  app: FastifyInstance,
  user = 'ada',
  { isOwn = false, onSaved = () => undefined, fetch = (request) => request }: EditorOptions = {},
): Promise<StartedEditor> {
  const api = createSettingsClient({ fetch: fetch(fetchFrom(app, user)) })
  const editor = new SettingsEditor(
    isOwn ? ownSource(api) : sharedSource(api),
    () => ({ messages: textsOf('en'), locale: 'en' }),
    onSaved,
  )
  await editor.load()
  const definitionOf = (key: string): Definition => {
    const definition = editor.state.definitions.find((each) => each.key === key)
    if (!definition) throw new Error(`no definition of ${key}`)
    return definition
  }
  const valueOf = (key: string) => editor.state.values.get(key)
  return {
    editor,
    definitionOf,
    enter: (key, input) => editor.edit(definitionOf(key), input),
    draftOf: (key) => editor.state.drafts.get(key),
    valueOf,
    shown: (key) => valueOf(key)?.value,
  }
}
