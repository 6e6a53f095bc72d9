/** The components of settings-ui within the layout of this application. */
import { ManageSettings, Preferences, type SettingsProps } from '@fastify-modular/settings-ui/react'
import { de } from '@fastify-modular/settings-ui/texts'
import { router, usePage } from '@inertiajs/react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Layout } from './layout.tsx'
import { reload, showPreview, tried } from './previewed.ts'
import { useShared, useTexts } from './shared.ts'

const texts: Readonly<Record<string, NonNullable<SettingsProps['messages']>>> = { de }

/** Who reads, and in which language. */
function useReader(): Pick<SettingsProps, 'callerId' | 'locale' | 'messages'> {
  const { app, user } = useShared()
  const locale = app?.language ?? 'en'
  return { ...(user && { callerId: user.id }), locale, messages: texts[locale] ?? {} }
}

export function ManagePage(): ReactNode {
  const { canUpdate, isAdmin } = usePage<{ canUpdate: boolean; isAdmin: boolean }>().props
  const [isDirty, setDirty] = useState(false)
  return (
    <Layout title={useTexts().settings}>
      <main className="page" id="main" tabIndex={-1}>
        <ManageSettings
          {...useReader()}
          canUpdate={canUpdate}
          isAdmin={isAdmin}
          onDirtyChange={setDirty}
          onSaved={reload}
          preview={tried}
          onPreview={showPreview}
        />
        <LeaveQuestion isDirty={isDirty} />
      </main>
    </Layout>
  )
}

/** Every signed-in user may change preferences here: `selfService: true`. */
export function PreferencesPage(): ReactNode {
  const [isDirty, setDirty] = useState(false)
  return (
    <Layout title={useTexts().preferences}>
      <main className="page is-narrow" id="main" tabIndex={-1}>
        <Preferences {...useReader()} canUpdate onDirtyChange={setDirty} onSaved={reload} />
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
      const isReload = visit.only.length > 0
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
        <footer>
          <button className="button">{texts.stay}</button>
          <button className="button primary" onClick={() => leave.current?.()}>
            {texts.leave}
          </button>
        </footer>
      </form>
    </dialog>
  )
}
