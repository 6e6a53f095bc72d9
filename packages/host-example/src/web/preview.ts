/** The settings whose drafts show in the page itself, by key: in the components here, and in the prebuilt pages. */
import type { Preview } from '@fastify-modular/settings-ui'

export const preview = {
  'app.title': 'title',
  'app.primary_color': 'accent',
  'app.banner': 'banner',
  'app.theme': 'theme',
  'user.preferred_density': 'density',
} as const satisfies Preview
