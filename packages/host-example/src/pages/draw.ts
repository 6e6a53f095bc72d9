/** Pages as markup, for the server. */
import { createInertiaApp } from '@inertiajs/react'
import { renderToString } from 'react-dom/server'
import { pages } from './pages.tsx'

/** What the head and the body of the document have; `page` is what the browser gets as JSON. */
export async function draw(page: unknown): Promise<{ head: readonly string[]; body: string }> {
  const render = await createInertiaApp(pages)
  if (!render) throw new Error('Pages are drawn here on the server alone.')
  return render(JSON.parse(JSON.stringify(page)), renderToString)
}
