/** The client: maps component names to pages and starts Inertia. */
import { withErrorPages } from '@fastify-modular/errors/react'
import { createInertiaApp } from '@inertiajs/react'
import { DashboardPage } from './dashboard.tsx'
import { DeadLettersPage } from './dead-letters-page.tsx'
import { ErrorPage } from './error-page.tsx'
import { Home } from './home.tsx'
import { MailsPage } from './mails-page.tsx'
import { NotesPage } from './notes-page.tsx'

const pages = new Map([
  ['Dashboard', DashboardPage],
  ['DeadLetters/Index', DeadLettersPage],
  ['Home', Home],
  ['Mails/Index', MailsPage],
  ['Notes/Index', NotesPage],
])

/** The components of settings-ui are loaded when one of their pages is opened. */
const settingsPages = new Map([
  ['Settings/Manage', async () => (await import('./settings-pages.tsx')).ManagePage],
  ['Settings/Me', async () => (await import('./settings-pages.tsx')).PreferencesPage],
])

function findPage(name: string) {
  const page = pages.get(name) ?? settingsPages.get(name)?.()
  if (!page) throw new Error(`There is no page named ${name}`)
  return page
}

// S 7.2.5: error pages are found before the pages of the application.
const errorPages = {
  'Error/403': ErrorPage,
  'Error/404': ErrorPage,
  'Error/500': ErrorPage,
  fallback: ErrorPage,
}

void createInertiaApp({
  resolve: withErrorPages(findPage, errorPages),
  progress: false, // its style element would need a hole in the Content-Security-Policy
})
