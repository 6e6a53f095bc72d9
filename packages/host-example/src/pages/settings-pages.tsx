/** The components of settings-ui within the layout of this application. */
import { SettingsAdmin, UserSettings } from '@fastify-modular/settings-ui/react'
import { router, usePage } from '@inertiajs/react'
import { type ReactNode, useCallback, useEffect, useRef } from 'react'
import { Layout } from './layout.tsx'
import { useTexts } from './shared.ts'

/** Title, banner and theme of the page around them follow at once. */
const reload = (): void => router.reload({ only: ['app'] })

const messages = { userHeading: 'Preferences' }

export function SettingsAdminPage(): ReactNode {
  const { canUpdate, isAdmin } = usePage<{ canUpdate: boolean; isAdmin: boolean }>().props
  return (
    <Layout title={useTexts().settings}>
      <main className="page" id="main" tabIndex={-1}>
        <SettingsAdmin
          canUpdate={canUpdate}
          isAdmin={isAdmin}
          onDirtyChange={useLeaveGuard()}
          onSaved={reload}
        />
      </main>
    </Layout>
  )
}

/** Every signed-in user may change preferences here: `selfService: true`. */
export function PreferencesPage(): ReactNode {
  return (
    <Layout title={useTexts().preferences}>
      <main className="page is-narrow" id="main" tabIndex={-1}>
        <UserSettings canUpdate messages={messages} onDirtyChange={useLeaveGuard()} onSaved={reload} />
      </main>
    </Layout>
  )
}

/**
 * A function for `onDirtyChange` of the settings components. Links of this application load no new document, so the
 * browser does not warn of unsaved changes: this does.
 */
function useLeaveGuard(): (isDirty: boolean) => void {
  const isDirty = useRef(false)
  useEffect(
    () =>
      router.on('before', ({ detail: { visit } }) => {
        const isReload = visit.only.length > 0
        return isReload || !isDirty.current || window.confirm('Leave this page and lose what is not saved?')
      }),
    [],
  )
  return useCallback((value) => {
    isDirty.current = value
  }, [])
}
