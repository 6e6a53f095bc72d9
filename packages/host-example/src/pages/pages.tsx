/** The pages by the names that routes give them: drawn on the server first, then in the browser. */
import { withErrorPages } from '@fastify-modular/errors/react'
import { createLiveClient } from '@fastify-modular/settings/client/live'
import { SettingsProvider } from '@fastify-modular/settings/react'
import type { ComponentType, ReactElement } from 'react'
import type { SharedProps } from '../web/shared-props.ts'
import { ErrorPage } from './error-page.tsx'

/** Each is loaded when it is opened; the first one is there already, as the server has drawn it. */
const components = new Map<string, () => Promise<ComponentType>>([
  ['Api', async () => (await import('./api-page.tsx')).ApiPage],
  ['Dashboard', async () => (await import('./dashboard.tsx')).DashboardPage],
  ['Home', async () => (await import('./home.tsx')).Home],
  ['Mails/Index', async () => (await import('./mails-page.tsx')).MailsPage],
  ['Notes/Index', async () => (await import('./notes-page.tsx')).NotesPage],
  ['Settings', async () => (await import('./settings-page.tsx')).SettingsPage],
  ['SignIn', async () => (await import('./sign-in-page.tsx')).SignInPage],
])

function findPage(name: string): Promise<ComponentType> {
  const page = components.get(name)
  if (!page) throw new Error(`There is no page named ${name}`)
  return page()
}

// S 7.2.5: error pages are found before the pages of the application.
const errorPages = {
  'Error/403': ErrorPage,
  'Error/404': ErrorPage,
  'Error/500': ErrorPage,
  fallback: ErrorPage,
}

/** What `createInertiaApp` takes, in browsers and on the server. */
export const pages = {
  resolve: withErrorPages(findPage, errorPages),
  progress: false, // its style element would need a hole in the Content-Security-Policy
  /** Settings are followed as they change; strangers are told of public ones. */
  withApp: (app: ReactElement, { page }: { readonly page: { readonly props: object } }): ReactElement => {
    const { user = null }: Partial<SharedProps> = page.props
    const client = createLiveClient(user ? {} : { public: true })
    return <SettingsProvider client={client}>{app}</SettingsProvider>
  },
} as const
