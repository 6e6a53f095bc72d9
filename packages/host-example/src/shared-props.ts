/** The props that every page receives. */
import { hasPermission } from '@fastify-modular/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { appSettings, systemSettings, userSettings } from './app-settings.ts'

export interface SharedProps {
  readonly app: {
    readonly title: string
    readonly banner: string | null
    readonly theme: string
    readonly primaryColor: string
    readonly supportEmail: string | null
    /** True for administrators only: no other caller is let in then. */
    readonly isInMaintenance: boolean
  }
  /** Null for anonymous callers. */
  readonly user: {
    readonly name: string
    readonly isAdmin: boolean
    readonly canUpdateSettings: boolean
  } | null
  readonly [prop: string]: unknown
}

/** The shared props of a request; settings apply to the next page as soon as they change. */
export function createSharedProps(app: FastifyInstance): (request: FastifyRequest) => Promise<SharedProps> {
  return async ({ caller }) => {
    const { settings } = app
    const preferences = caller ? await settings.forUser(caller.id) : settings
    return {
      app: {
        title: settings.get(appSettings.title),
        banner: settings.get(appSettings.banner),
        theme: preferences.get(userSettings.theme),
        primaryColor: settings.get(appSettings.primaryColor),
        supportEmail: settings.get(appSettings.supportEmail),
        isInMaintenance: caller?.isAdmin === true && settings.get(systemSettings.maintenanceMode),
      },
      user: caller && {
        name: caller.name ?? caller.id,
        isAdmin: caller.isAdmin,
        canUpdateSettings: hasPermission(caller, 'Settings.Update'),
      },
    }
  }
}
