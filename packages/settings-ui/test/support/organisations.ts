/** A host whose callers work in organisations: a cookie says in which one, or the header of an element. */
import { setting, SettingScope } from '@fastify-modular/settings'
import type { HostOptions } from './host.js'

const { Application, Tenant, User } = SettingScope

export const ofOrganisations = {
  title: setting.text('app.title', { displayName: 'Title', scope: Application, default: 'Notes' }),
  brand: setting.text('org.brand', {
    displayName: 'Brand',
    description: 'Shown in the header of every page.',
    scope: Tenant,
    default: 'My product',
  }),
  accent: setting.color('org.accent', { displayName: 'Accent', scope: Tenant, default: '#2f57dd' }),
  invoices: setting.email('org.invoices', {
    displayName: 'Invoices go to',
    description: 'One address. The people who read them need no account.',
    scope: Tenant,
  }),
  seats: setting.number('org.seats', {
    displayName: 'Seats',
    description: 'Your plan sets this.',
    scope: Tenant,
    default: 5,
    writePermission: 'Plans.Edit',
  }),
  token: setting.text('org.token', { displayName: 'API token', scope: Tenant, sensitive: true }),
  theme: setting.select('user.theme', {
    displayName: 'Theme',
    description: 'Light, dark, or as the device is set.',
    scope: User,
    allowedValues: ['light', 'dark', 'system'],
    default: 'system',
  }),
  rows: setting.number('user.page_size', {
    displayName: 'Rows per page',
    scope: User,
    default: 25,
    min: 5,
    max: 200,
  }),
}

const manager = ['TenantSettings.Update']

/** What people may do in which organisation. Ada is an administrator of the application, and a member of both. */
const members: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  ada: { acme: [], bolt: [] },
  vera: { acme: manager, bolt: [] },
  eve: { acme: [], bolt: manager },
}

const names: Readonly<Record<string, string>> = { acme: 'Acme', bolt: 'Bolt' }

/** @param named what the organisations are called; without a name they are not called anything */
export function withOrganisations(named = names): HostOptions {
  return {
    settings: {
      definitions: [ofOrganisations],
      overrides: {},
      tenants: {
        of({ headers, cookies }, caller) {
          const id = String(headers['settings-tenant'] ?? cookies['organisation'] ?? '')
          const permissions = caller && members[caller.id]?.[id]
          const name = named[id]
          return permissions ? { id, permissions, ...(name !== undefined && { name }) } : null
        },
      },
    },
    modules: [
      {
        name: 'plans',
        permissions: { 'Plans.Edit': 'Change what a plan includes' },
        plugin: async () => undefined,
      },
    ],
    ui: { preview: { 'org.brand': 'title', 'org.accent': 'accent', 'user.theme': 'theme' } },
  }
}
