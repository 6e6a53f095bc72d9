/** The components of settings-ui within the layout of this application. */
import { SettingsAdmin, UserSettings } from '@fastify-modular/settings-ui/react'
import { router, usePage } from '@inertiajs/react'
import type { ReactNode } from 'react'
import { Layout } from '../layout.tsx'
import { useLeaveGuard } from './use-leave-guard.ts'

/** Title, banner and theme of the page around them follow at once. */
const reload = (): void => router.reload({ only: ['app'] })

const messages = { userHeading: 'Preferences' }

export function SettingsAdminPage(): ReactNode {
  const { canUpdate, isAdmin } = usePage<{ canUpdate: boolean; isAdmin: boolean }>().props
  return (
    <Layout title="Settings">
      <SettingsAdmin
        canUpdate={canUpdate}
        isAdmin={isAdmin}
        onDirtyChange={useLeaveGuard()}
        onSaved={reload}
      />
    </Layout>
  )
}

/** Everybody may change preferences here: `ownWrites: 'authenticated'`. */
export function PreferencesPage(): ReactNode {
  return (
    <Layout title="Preferences">
      <UserSettings canUpdate messages={messages} onDirtyChange={useLeaveGuard()} onSaved={reload} />
    </Layout>
  )
}
