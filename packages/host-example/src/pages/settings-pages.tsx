/** The components of settings-ui within the layout of this application. */
import { ManageSettings, Preferences, type SettingsProps } from '@fastify-modular/settings-ui/react'
import { de } from '@fastify-modular/settings-ui/texts'
import { router, usePage } from '@inertiajs/react'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { ConfirmDialog } from './confirm-dialog.tsx'
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
  const [onDirtyChange, question] = useLeaveGuard()
  return (
    <Layout title={useTexts().settings}>
      <main className="page" id="main" tabIndex={-1}>
        <ManageSettings
          {...useReader()}
          canUpdate={canUpdate}
          isAdmin={isAdmin}
          onDirtyChange={onDirtyChange}
          onSaved={reload}
          preview={tried}
          onPreview={showPreview}
        />
        {question}
      </main>
    </Layout>
  )
}

/** Every signed-in user may change preferences here: `selfService: true`. */
export function PreferencesPage(): ReactNode {
  const [onDirtyChange, question] = useLeaveGuard()
  return (
    <Layout title={useTexts().preferences}>
      <main className="page is-narrow" id="main" tabIndex={-1}>
        <Preferences {...useReader()} canUpdate onDirtyChange={onDirtyChange} onSaved={reload} />
        {question}
      </main>
    </Layout>
  )
}

/**
 * A function for `onDirtyChange` of the settings components, and the question to show. Links of this application load no
 * new document, so the browser does not warn of unsaved changes: this does.
 */
function useLeaveGuard(): [onDirtyChange: (isDirty: boolean) => void, question: ReactNode] {
  const isDirty = useRef(false)
  const isLeaving = useRef(false)
  const [held, setHeld] = useState<(() => void) | null>(null)
  const words = useTexts()
  useEffect(
    () =>
      router.on('before', ({ detail: { visit } }) => {
        const isReload = visit.only.length > 0
        if (isReload || !isDirty.current || isLeaving.current) return true
        setHeld(() => () => router.visit(visit.url, visit))
        return false
      }),
    [],
  )
  const onDirtyChange = useCallback((value: boolean) => {
    isDirty.current = value
  }, [])
  /** Lets this one visit pass: where it fails, what is unsaved is still there, and asked about by the next one. */
  function leave(): void {
    isLeaving.current = true
    held?.()
    isLeaving.current = false
  }

  const question = held && (
    <ConfirmDialog
      question={words.leaveUnsaved}
      consequence={words.leaveUnsavedMore}
      no={words.stay}
      yes={words.leave}
      onYes={leave}
      onClose={() => setHeld(null)}
    />
  )
  return [onDirtyChange, question]
}
