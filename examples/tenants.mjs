// Settings of organisations: the value of one holds for its members, above the default for all. Who may write it is a role in this
// organisation. Nobody reads or writes the value of an organisation in which they are not a member.
//
//   node examples/tenants.mjs
//   curl -i localhost:3000/page -H 'authorization: ada' -H 'settings-tenant: acme' # 200 "brand":"My product"
//   curl -i -X PUT localhost:3000/api/settings/tenant -H 'authorization: ada' -H 'settings-tenant: acme' -H 'content-type: application/json' -d '{"key":"org.brand","value":"Acme","tenant":"acme"}' # 204
//   curl -i localhost:3000/page -H 'authorization: bob' -H 'settings-tenant: acme' # 200 "brand":"Acme"
//   curl -i localhost:3000/page -H 'authorization: eve' -H 'settings-tenant: bolt' # 200 "brand":"My product"
//   curl -i localhost:3000/page -H 'authorization: eve' -H 'settings-tenant: acme' # 200 "organisation":null,"brand":"My product"
//   curl -i -X PUT localhost:3000/api/settings/tenant -H 'authorization: bob' -H 'settings-tenant: acme' -H 'content-type: application/json' -d '{"key":"org.brand","value":"Bob","tenant":"acme"}' # 403
//   curl -i -X PUT localhost:3000/api/settings/tenant -H 'authorization: ada' -H 'settings-tenant: bolt' -H 'content-type: application/json' -d '{"key":"org.brand","value":"Ada","tenant":"bolt"}' # 403
//   curl -i -X PUT localhost:3000/api/settings/tenant -H 'authorization: eve' -H 'settings-tenant: bolt' -H 'content-type: application/json' -d '{"key":"org.brand","value":"Eve","tenant":"acme"}' # 409 TENANT_CHANGED
import Fastify from 'fastify'
import { publicRoutes } from '@fastify-modular/public-routes'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'

/** In which organisations a person is, and with which permissions there. */
const members = {
  ada: { acme: ['TenantSettings.Update'], bolt: [] },
  bob: { acme: [] },
  eve: { bolt: ['TenantSettings.Update'] },
}

const org = {
  brand: setting.text('org.brand', {
    displayName: 'Brand',
    scope: SettingScope.Tenant,
    default: 'My product',
  }),
}

const app = Fastify({ logger: true })
await app.register(publicRoutes, {
  // For an example: the header is the user.
  provider: {
    authenticate: ({ headers: { authorization: id } }) => (Object.hasOwn(members, id ?? '') ? { id } : null),
  },
})
await app.register(settings, {
  definitions: [org],
  store: memoryStore(),
  tenants: {
    of({ headers: { 'settings-tenant': id } }, caller) {
      const roles = caller ? members[caller.id] : {}
      return Object.hasOwn(roles, id ?? '') ? { id, permissions: roles[id] } : null
    },
  },
})

app.get('/page', async (request) => {
  const organisation = await app.settings.tenantOf(request)
  return { organisation: organisation?.id ?? null, brand: (await request.settings).get(org.brand) }
})

await app.listen({ port: Number(process.env.PORT ?? 3000) })
