/** Settings within the frame of this application: what administrators change, or what each reader does. */
import { router, usePage } from '@inertiajs/react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { takeDraft } from './draft.ts'
import { Layout } from './layout.tsx'
import { Settings } from './settings-element.tsx'
import { useTexts } from './shared.ts'

export function SettingsPage(): ReactNode {
  const { page, takesDrafts } = usePage<{ page: 'manage' | 'preferences'; takesDrafts: boolean }>().props
  const texts = useTexts()
  const [isDirty, setDirty] = useState(false)
  const [draft, setDraft] = useState<Readonly<Record<string, string>>>()

  useEffect(() => {
    if (takesDrafts) setDraft(takeDraft())
  }, [takesDrafts])

  return (
    <Layout title={page === 'manage' ? texts.settings : texts.preferences}>
      <main id="main" tabIndex={-1}>
        <Settings page={page} draft={draft} onDirty={setDirty} />
        <LeaveQuestion isDirty={isDirty} />
      </main>
    </Layout>
  )
}

/** Asks before a visit leaves unsaved changes: it loads no new document, so the browser does not warn. */
function LeaveQuestion({ isDirty }: { isDirty: boolean }): ReactNode {
  const texts = useTexts()
  const dialog = useRef<HTMLDialogElement>(null)
  /** Makes the visit that is held while the question is open. */
  const leave = useRef<(() => void) | null>(null)
  useEffect(() => {
    if (!isDirty) return undefined
    return router.on('before', ({ detail: { visit } }) => {
      const isReload = visit.url.pathname === window.location.pathname
      if (isReload || leave.current) return true
      leave.current = () => router.visit(visit.url, visit)
      dialog.current?.showModal()
      return false
    })
  }, [isDirty])

  return (
    <dialog
      className="dialog"
      ref={dialog}
      aria-labelledby="leave-question"
      aria-describedby="leave-more"
      onClose={() => {
        leave.current = null
      }}
    >
      <form method="dialog">
        <h2 id="leave-question">{texts.leaveUnsaved}</h2>
        <p id="leave-more">{texts.leaveUnsavedMore}</p>
        <footer className="row">
          <button className="button">{texts.stay}</button>
          <button className="button primary" onClick={() => leave.current?.()}>
            {texts.leave}
          </button>
        </footer>
      </form>
    </dialog>
  )
}
