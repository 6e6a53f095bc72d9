/** What settings make of the pages: title, logo, colour, language and the rest, for one caller. */
import type { ValuesOf } from '@fastify-modular/settings'
import type { FastifyRequest } from 'fastify'
import { appSettings, systemSettings, userSettings } from '../app-settings.ts'

declare module '@fastify-modular/settings' {
  interface SettingKeyMap
    extends ValuesOf<typeof appSettings>, ValuesOf<typeof userSettings>, ValuesOf<typeof systemSettings> {}
}

/** Values of settings that pages show. */
export type Look = Awaited<ReturnType<typeof readLook>>

/** The look for the caller of a request. */
export async function readLook({ settings: reading, headers }: Pick<FastifyRequest, 'settings' | 'headers'>) {
  const settings = await reading
  return {
    title: settings.get(appSettings.title),
    logo: settings.get(appSettings.logo),
    banner: settings.get(appSettings.banner),
    accent: settings.get(appSettings.primaryColor),
    theme: settings.get(userSettings.theme),
    density: settings.get(userSettings.density),
    language: settings.get(userSettings.language),
    /** What the browser prefers, such as `en-GB`: dates are written so where the language is the same. */
    preferred: /^[a-z]{2}-[A-Z]{2}(?=[,;]|$)/.exec(headers['accept-language'] ?? '')?.[0] ?? '',
    timeZone: settings.get(appSettings.timezone),
    supportEmail: settings.get(appSettings.supportEmail),
    homepageUrl: settings.get(appSettings.homepageUrl),
    launchAt: settings.get(appSettings.launchAt), // ISO 8601
    features: settings.get(appSettings.featureJson), // parts of the pages that may be switched off
    isInMaintenance: settings.get(systemSettings.maintenanceMode), // only administrators get in
  }
}
