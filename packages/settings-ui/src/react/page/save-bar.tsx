/** What is unsaved and what to do about it; also why the last attempt failed. In view as long as it matters. */
import type { ReactNode } from 'react'
import { format, plural } from '../messages/format.ts'
import type { Messages } from '../messages/messages.ts'
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { useEditor, usePage } from './page-context.ts'

export function SaveBar(): ReactNode {
  const { editor, messages, locale, open } = usePage()
  const count = useEditor((state) => state.drafts.size)
  const isSaving = useEditor((state) => state.saving)
  const failure = useEditor((state) => state.failure)
  const phase = useEditor((state) => state.phase)
  if ((count === 0 && !failure) || phase !== 'ready') return null
  return (
    <div className="fm-bar">
      {failure && failure.status !== 401 && (
        <p className="fm-error" role="alert">
          {failureText(failure, messages)}
        </p>
      )}
      {count > 0 && (
        <>
          <strong>{plural(messages.unsavedCount, count, locale)}</strong>
          <button type="button" className="fm-quiet" onClick={() => open({ kind: 'review' })}>
            {messages.review}
          </button>
          <button type="button" onClick={editor.discard}>
            {messages.discard}
          </button>
          <button type="submit" className="fm-primary" aria-disabled={isSaving || undefined}>
            {isSaving ? messages.saving : failure ? messages.tryAgain : messages.save}
          </button>
        </>
      )}
      {count === 0 && (
        <button type="button" onClick={editor.dismiss}>
          {messages.dismiss}
        </button>
      )}
    </div>
  )
}

/** Why an action failed, for whoever tried. */
export function failureText(failure: SettingsRequestError, messages: Messages): string {
  const { status, message, errors, requestId } = failure
  if (status === 0) return messages.unreachable
  if (status === 401) return messages.signedOut
  if (status === 403) return messages.forbidden
  if (status >= 500) {
    return messages.serverFailed + (requestId ? ` ${format(messages.requestId, { id: requestId })}` : '')
  }
  const details = Object.entries(errors).map(([key, texts]) => `${key}: ${texts.join(' ')}`)
  return format(messages.refused, { detail: details.join(' ') || message })
}
