// What can be set, and by whom. Both processes have all of it.
import { setting, SettingScope } from '@fastify-modular/settings'
import { z } from 'zod'

const { System, Tenant, User } = SettingScope
const Addresses = z.array(z.string().trim().toLowerCase().pipe(z.email())).max(10)

// Of a process: read from the environment, before there is an application.
export const server = {
  port: setting.number('server.port', { displayName: 'Port', scope: System, env: 'PORT', default: 3000 }),
}

// Of an organisation, by its owners.
export const branding = {
  name: setting.text('branding.name', { displayName: 'Name', scope: Tenant, default: 'Ledger' }),
  color: setting.color('branding.color', { displayName: 'Colour', scope: Tenant, default: '#2563eb' }),
}
const copiesTo = { displayName: 'Copies go to', scope: Tenant, default: [] }
const flag = { scope: Tenant, flag: true, default: false }
export const invoicing = {
  copies: setting.schema('invoicing.copies', Addresses, copiesTo),
  reminders: setting.bool('invoicing.reminders', { displayName: 'Reminders', ...flag }),
}

// Of an organisation, by the operator alone: no role of its members has this permission.
const ofPlans = { scope: Tenant, writePermission: 'Plans.Edit' }
export const plan = {
  seats: setting.number('plan.seats', { displayName: 'Members', ...ofPlans, min: 1, default: 2 }),
}

// Of a person. An organisation may set what its people begin with.
const themes = { allowedValues: ['light', 'dark'], default: 'light' }
export const preferences = {
  theme: setting.select('me.theme', { displayName: 'Theme', scope: User, ...themes }),
}
