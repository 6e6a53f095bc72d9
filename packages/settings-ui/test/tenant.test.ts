/** Who gets the page of an organisation, and that there is none without organisations. */
import { settings } from '@fastify-modular/settings'
import { settingsUi } from '@fastify-modular/settings-ui'
import Fastify from 'fastify'
import { test } from 'tap'
import { definitions } from './support/definitions.js'
import { createHost } from './support/host.js'
import { withOrganisations } from './support/organisations.js'
import { as, configOf } from './support/pages.js'

test('the page of an organisation is for those who may write its values; others get 403, and 404 where they are in none', async (t) => {
  const app = await createHost(t, withOrganisations())
  const visitIn = async (user: string, organisation: string, page = 'tenant', headers = {}) =>
    app.inject({
      url: `/settings/${page}`,
      headers: { accept: 'text/html', ...headers, cookie: `user=${user}; organisation=${organisation}` },
    })
  const own = await visitIn('vera', 'acme')
  t.equal(own.statusCode, 200)
  t.match(own.payload, '<title>Acme · Test host</title>')
  t.match(configOf(own.payload), { heading: 'Acme', canUpdate: true, tenant: { id: 'acme' } })
  t.match((await visitIn('vera', 'acme', 'preferences')).payload, '<a href="./tenant" dir="auto">Acme</a>')
  t.match((await visitIn('ada', 'bolt')).payload, '<title>Bolt', 'administrators may write everywhere')
  const german = { 'accept-language': 'de' }
  for (const [status, user, organisation, text] of [
    [403, 'eve', 'acme', 'Sie dürfen die Einstellungen von Acme nicht ändern.'],
    [404, 'vera', 'nowhere', 'Sie sind hier in keiner Organisation.'],
    [404, 'vera', '', 'Sie sind hier in keiner Organisation.'],
  ] as const) {
    for (const page of ['tenant', 'tenant.json']) {
      const { statusCode, payload } = await visitIn(user, organisation, page, german)
      t.equal(statusCode, status, `${page}: ${user} in ${organisation}`)
      t.match(payload, text)
    }
    const preferences = await visitIn(user, organisation, 'preferences')
    t.equal(preferences.statusCode, 200)
    t.notMatch(preferences.payload, 'href="./tenant"', 'no link to it')
  }
  const off = await createHost(t, {
    ...withOrganisations(),
    ui: { tenant: (caller) => caller?.isAdmin === true },
  })
  const headers = { cookie: 'user=vera; organisation=acme' }
  t.equal((await off.inject({ url: '/settings/tenant', headers })).statusCode, 403)
})

test('without organisations there is nothing of their page', async (t) => {
  const app = await createHost(t)
  for (const path of ['tenant', 'tenant.json'])
    t.equal((await app.inject({ url: `/settings/${path}`, ...as('ada') })).statusCode, 404)
  t.notOk(app.hasRoute({ method: 'GET', url: '/settings/tenant' }))
  for (const page of ['manage', 'preferences']) {
    const { payload } = await app.inject({ url: `/settings/${page}`, ...as('ada') })
    t.notMatch(payload, /tenant|organi[sz]ation/i)
  }
  const { tenants } = withOrganisations().settings ?? {}
  const early = Fastify()
  t.teardown(() => early.close())
  await early.register(settingsUi, { guard: false, findCaller: () => null })
  await early.register(settings, {
    definitions: [definitions],
    findCaller: () => null,
    ...(tenants && { tenants }),
  })
  await t.rejects(async () => await early.ready(), {
    code: 'FMOD_CORE_INVALID_OPTION',
    message: /after the settings plugin/,
  })
})
