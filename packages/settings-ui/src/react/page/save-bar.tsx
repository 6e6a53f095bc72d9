/** What is unsaved and what to do about it; also why the last attempt failed. In view as long as it matters. */
import type { ReactNode } from 'react'
import { plural } from '../messages/format.ts'
import { useEditor, usePage } from '../shared/page-context.ts'
import { failureText } from '../shared/failure-text.ts'

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
