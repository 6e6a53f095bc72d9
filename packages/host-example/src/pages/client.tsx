/** The client: takes over what the server has drawn, and draws the pages that follow. */
import { createInertiaApp } from '@inertiajs/react'
import { pages } from './pages.tsx'

void createInertiaApp(pages)
