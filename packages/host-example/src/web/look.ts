/** What settings make of the pages: title, logo, colour, language and the rest, for one caller. */
import type { Caller } from '@fastify-modular/core'
import type { Settings, ValuesOf } from '@fastify-modular/settings'
import { appSettings, systemSettings, userSettings } from '../app-settings.ts'

declare module '@fastify-modular/settings' {
  interface SettingKeyMap
    extends ValuesOf<typeof appSettings>, ValuesOf<typeof userSettings>, ValuesOf<typeof systemSettings> {}
}

/** Values of settings that pages show. */
export type Look = Awaited<ReturnType<typeof readLook>>

/** The look for this caller; null: for strangers. */
export async function readLook(settings: Settings, caller: Caller | null) {
  const preferences = caller ? await settings.forUser(caller.id) : settings
  return {
    title: settings.get(appSettings.title),
    logo: settings.get(appSettings.logo),
    banner: settings.get(appSettings.banner),
    accent: settings.get(appSettings.primaryColor),
    theme: preferences.get(userSettings.theme),
    density: preferences.get(userSettings.density),
    language: preferences.get(userSettings.language),
    timeZone: settings.get(appSettings.timezone),
    supportEmail: settings.get(appSettings.supportEmail),
    homepageUrl: settings.get(appSettings.homepageUrl),
    launchAt: settings.get(appSettings.launchAt), // ISO 8601
    features: settings.get(appSettings.featureJson), // parts of the pages that may be switched off
    isInMaintenance: settings.get(systemSettings.maintenanceMode), // only administrators get in
  }
}
