/** The components of settings-ui within the layout of this application. */
import { ManageSettings, Preferences, type SettingsProps } from '@fastify-modular/settings-ui/react'
import { de } from '@fastify-modular/settings-ui/texts'
import { router, usePage } from '@inertiajs/react'
import { type ReactNode, useCallback, useEffect, useRef } from 'react'
import { Layout } from './layout.tsx'
import { useShared, useTexts } from './shared.ts'

/** Title, banner and theme of the page around them follow at once. */
const reload = (): void => router.reload({ only: ['app'] })

const texts: Readonly<Record<string, NonNullable<SettingsProps['messages']>>> = { de }

/** The language of the page around them. */
function useLanguage(): Pick<SettingsProps, 'locale' | 'messages'> {
  const locale = useShared().app?.language ?? 'en'
  return { locale, messages: texts[locale] ?? {} }
}

export function ManagePage(): ReactNode {
  const { canUpdate, isAdmin } = usePage<{ canUpdate: boolean; isAdmin: boolean }>().props
  return (
    <Layout title={useTexts().settings}>
      <main className="page" id="main" tabIndex={-1}>
        <ManageSettings
          {...useLanguage()}
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
        <Preferences {...useLanguage()} canUpdate onDirtyChange={useLeaveGuard()} onSaved={reload} />
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
  const { leaveUnsaved } = useTexts()
  useEffect(
    () =>
      router.on('before', ({ detail: { visit } }) => {
        const isReload = visit.only.length > 0
        return isReload || !isDirty.current || window.confirm(leaveUnsaved)
      }),
    [leaveUnsaved],
  )
  return useCallback((value) => {
    isDirty.current = value
  }, [])
}
