/** The components of settings-ui within the layout of this application. */
import { SettingsAdmin, UserSettings } from '@fastify-modular/settings-ui/react'
import { usePage } from '@inertiajs/react'
import type { ReactNode } from 'react'
import { Layout } from '../layout.tsx'

export function SettingsAdminPage(): ReactNode {
  const { canUpdate, isAdmin } = usePage<{ canUpdate: boolean; isAdmin: boolean }>().props
  return (
    <Layout title="Settings">
      <SettingsAdmin canUpdate={canUpdate} isAdmin={isAdmin} />
    </Layout>
  )
}

/** Everybody may change preferences here: `ownWrites: 'authenticated'`. */
export function PreferencesPage(): ReactNode {
  return (
    <Layout title="Preferences">
      <UserSettings canUpdate />
    </Layout>
  )
}
