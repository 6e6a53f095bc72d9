/** What settings make of the pages: title, logo, colour, language and the rest, for one caller. */
import type { Caller } from '@fastify-modular/core'
import type { SettingKeys, Settings } from '@fastify-modular/settings'
import { appSettings, systemSettings, userSettings } from '../app-settings.ts'

declare module '@fastify-modular/settings' {
  interface SettingKeyMap extends SettingKeys<typeof appSettings>, SettingKeys<typeof systemSettings> {}
}

/** Values of settings that pages show. */
export interface Look {
  readonly title: string
  readonly logo: string
  readonly banner: string | null
  readonly accent: string
  readonly theme: string
  readonly density: string
  readonly language: string
  readonly timeZone: string
  readonly supportEmail: string | null
  readonly homepageUrl: string | null
  /** ISO 8601. */
  readonly launchAt: string | null
  readonly features: Features
  readonly isRegistrationOpen: boolean
  /** Only administrators get in. */
  readonly isInMaintenance: boolean
}

/** Parts of the pages that the setting `app.feature_json` may switch off. */
interface Features {
  readonly search: boolean
  readonly sharing: boolean
}

/** The look for this caller; null: for strangers. */
export async function readLook(settings: Settings, caller: Caller | null): Promise<Look> {
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
    launchAt: settings.get(appSettings.launchAt),
    features: settings.get(appSettings.featureJson),
    isRegistrationOpen: settings.get(systemSettings.registrationEnabled),
    isInMaintenance: settings.get(systemSettings.maintenanceMode),
  }
}
