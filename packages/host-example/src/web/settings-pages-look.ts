/** The prebuilt settings pages within the document, the header and the look of this application. */
import type { SettingsUiOptions } from '@fastify-modular/settings-ui'
import type { FastifyInstance } from 'fastify'
import { userSettings } from '../app-settings.ts'
import type { Document } from './document.ts'
import { Html, html } from './html.ts'
import { preview } from './preview.ts'
import { policy } from './security-headers.ts'
import { createSharedProps } from './shared-props.ts'
import { siteHeader } from './site-header.ts'

type LookOptions = Required<
  Pick<SettingsUiOptions, 'title' | 'theme' | 'preview' | 'locale' | 'layout' | 'csp'>
>

/** The options of settings-ui that follow the settings and the caller. */
export function settingsPagesLook(app: FastifyInstance, document: Document): LookOptions {
  const shared = createSharedProps(app)
  return {
    title: async (request) => (await shared(request)).app.title,
    locale: async (request) => (await shared(request)).app.language,
    theme: { setting: userSettings.theme.key },
    preview,
    // These pages write no HTML from scripts: they get the policy of all others, and Trusted Types.
    csp: `${policy}; require-trusted-types-for 'script'; trusted-types 'none'`,
    async layout(request, { title, head, body }) {
      const props = await shared(request)
      const isManage = request.url.startsWith('/settings/manage')
      return document({
        title: new Html(title),
        head: new Html(head),
        body: html`${siteHeader(props, isManage ? '/inertia/settings' : '/inertia/preferences')}
          <main id="main" tabindex="-1">${new Html(body)}</main>`,
        look: props.app,
      })
    },
  }
}
