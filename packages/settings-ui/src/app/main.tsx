/** The prebuilt pages: reads what the server says about its caller and shows the page that it asked for. */
import { createRoot } from 'react-dom/client'
import type { PageConfig } from '../document/page-config.ts'
// oxlint-disable-next-line import/no-unassigned-import -- Vite puts it into the style sheet
import '../react/styles.css'
import { SettingsAdmin } from '../react/settings-admin.tsx'
import { UserSettings } from '../react/user-settings.tsx'
import { offerSchemes } from './color-scheme.ts'

const config = JSON.parse(document.getElementById('fm-config')?.textContent ?? '{}') as PageConfig // of our own server
const { page, scheme, ...props } = config
const root = document.getElementById('fm-app')

offerSchemes(scheme)
if (root) {
  const Page = page === 'manage' ? SettingsAdmin : UserSettings
  root.replaceChildren()
  createRoot(root).render(<Page {...props} id="fm" />)
}
