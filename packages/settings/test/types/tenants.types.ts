/** Compile-time assertions: this file is compiled with the tests and never runs. */
import { type SettingsReader, setting, SettingScope } from '@fastify-modular/settings'
import type { FastifyInstance } from 'fastify'

const common = { displayName: 'Test', default: 'x' } as const
const ofTenant = setting.text('t.tenant', { ...common, scope: SettingScope.Tenant })
const chosen = setting.select('t.select', {
  displayName: 'T',
  scope: SettingScope.Tenant,
  allowedValues: ['a'],
})
const ofAll = setting.text('t.all', { ...common, scope: SettingScope.Application })
const ofUser = setting.text('t.user', { ...common, scope: SettingScope.User })

export async function read({ settings }: FastifyInstance): Promise<readonly (string | null)[]> {
  // @ts-expect-error -- without a tenant it would be everybody's default, in silence
  settings.get(ofTenant)
  // @ts-expect-error -- the same of a choice
  settings.get(chosen)
  const shared = await settings.forTenant(null)
  const acme = await settings.forTenant('acme')
  const reader: SettingsReader = settings
  return [
    shared.get(ofTenant),
    acme.get(chosen),
    settings.get(ofAll),
    settings.get(ofUser),
    reader.get(ofAll),
  ]
}
