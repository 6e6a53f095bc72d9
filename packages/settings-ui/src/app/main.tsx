/** The prebuilt pages: reads what the server says about its caller and shows the page that it asked for. */
import { createRoot } from 'react-dom/client'
import type { PageConfig } from '../page-config.ts'
// oxlint-disable-next-line import/no-unassigned-import -- Vite puts it into the style sheet
import '../react/styles.css'
import { SettingsAdmin } from '../react/settings-admin.tsx'
import { UserSettings } from '../react/user-settings.tsx'
import { applyTheme } from './color-scheme.ts'
import { TopBar } from './top-bar.tsx'

const config = JSON.parse(document.getElementById('fm-config')?.textContent ?? '{}') as PageConfig // of our own server
const root = document.getElementById('fm-app')

applyTheme(config.scheme)
if (root) {
  const Page = config.page === 'manage' ? SettingsAdmin : UserSettings
  root.replaceChildren()
  createRoot(root).render(
    <>
      <TopBar config={config} />
      <main>
        <Page
          apiBase={config.apiBase}
          canUpdate={config.page === 'manage' ? config.canUpdate : config.canUpdateOwn}
          isAdmin={config.isAdmin}
          locale={config.locale}
          messages={config.messages}
        />
      </main>
    </>,
  )
}
