/** The client: maps component names to pages and starts Inertia. */
import { withErrorPages } from '@fastify-modular/errors/react'
import { createInertiaApp } from '@inertiajs/react'
import { Home } from './home.tsx'
import { NotesPage } from './notes/notes-page.tsx'

const pages = new Map([
  ['Home', Home],
  ['Notes/Index', NotesPage],
])

void createInertiaApp({
  resolve: withErrorPages((name: string) => {
    const page = pages.get(name)
    if (!page) throw new Error(`There is no page named ${name}`)
    return page
  }),
  progress: false, // its style element would need a hole in the Content-Security-Policy
})
