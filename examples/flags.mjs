// Feature flags: settings that the SDKs of OpenFeature read, here in process, elsewhere by its protocol (OFREP).
//
//   node examples/flags.mjs
//   curl -i -X POST localhost:3000/ofrep/v1/evaluate/flags/shop.checkout -H 'authorization: alice' -H 'content-type: application/json' -d '{}' # 200 "value":false
//   curl -i localhost:3000/cart -H 'authorization: alice'              # 200 old checkout
//   curl -i -X PUT localhost:3000/api/settings/me -H 'authorization: alice' -H 'content-type: application/json' -d '{"key":"shop.checkout","value":true}' # 204
//   curl -i localhost:3000/cart -H 'authorization: alice'              # 200 new checkout
//   curl -i localhost:3000/cart -H 'authorization: bob'                # 200 old checkout
//   curl -i -X POST localhost:3000/ofrep/v1/evaluate/flags -H 'authorization: alice' -H 'content-type: application/json' -d '{"context":{"targetingKey":"alice"}}' # 200 TARGETING_MATCH
//   curl -i -X POST localhost:3000/ofrep/v1/evaluate/flags -H 'authorization: bob' -H 'content-type: application/json' -d '{"context":{"targetingKey":"alice"}}' # 403
//   curl -i -X POST localhost:3000/ofrep/v1/evaluate/flags/shop.color -H 'authorization: alice' -H 'content-type: application/json' -d '{}' # 404 FLAG_NOT_FOUND
import Fastify from 'fastify'
import { publicRoutes } from '@fastify-modular/public-routes'
import { memoryStore, setting, settings, SettingScope } from '@fastify-modular/settings'
import { ofrep, openFeatureProvider } from '@fastify-modular/settings/openfeature'
import { OpenFeature } from '@openfeature/server-sdk'

const shop = {
  checkout: setting.bool('shop.checkout', {
    displayName: 'New checkout',
    scope: SettingScope.User,
    default: false,
    flag: true,
  }),
}

const app = Fastify({ logger: true })
await app.register(publicRoutes, {
  // For an example: the header is the user.
  provider: {
    authenticate: ({ headers: { authorization: id } }) => (id ? { id } : null),
  },
})
await app.register(settings, { definitions: [shop], store: memoryStore(), selfService: true })
await app.register(ofrep)

const features = OpenFeature.getClient()
app.get('/cart', async ({ caller }) => {
  const isNew = await features.getBooleanValue('shop.checkout', false, { targetingKey: caller.id })
  return isNew ? 'new checkout\n' : 'old checkout\n'
})

await app.ready()
await OpenFeature.setProviderAndWait(openFeatureProvider(app))
await app.listen({ port: Number(process.env.PORT ?? 3000) })
