/** Who may call which route of the example: `access.json` is the reviewed list. */
import { join } from 'node:path'
import { createApp } from '#src/app.js'
import { readConfig } from '#src/config.js'
import { expectAccess } from '@fastify-modular/public-routes/testing'
import type { FastifyInstance } from 'fastify'
import { test, type Test } from 'tap'
import { tempFolder } from './host.js'

async function createExample(t: Test): Promise<FastifyInstance> {
  const file = join(await tempFolder(t), 'host.sqlite')
  const app = await createApp(readConfig({ DATABASE_URL: `sqlite:${file}`, LOG_LEVEL: 'silent' }))
  t.teardown(() => app.close())
  return app
}

test('the access of the example', async (t) => {
  const app = await createExample(t)

  await t.test('every route has the access of access.json, in the table and by request', async () => {
    await expectAccess(app, new URL('../access.json', import.meta.url))
  })

  await t.test('the permissions of the modules and of settings are there for role editors', async (t) => {
    t.match(app.permissions.list(), [
      { name: 'Mails.Read', displayName: 'Read mail', source: 'module "mail"' },
      { name: 'Settings.Update', displayName: 'Change settings', source: 'plugin settings' },
    ])
  })

  await t.test('the table says which permission the handlers of settings check', async (t) => {
    const rows = app.access.table().filter(({ url }) => url.startsWith('/api/settings'))
    const checked = rows.flatMap(({ method, url, checkedByHandler }) =>
      checkedByHandler === null ? [] : [`${method} ${url} ${checkedByHandler}`],
    )
    t.ok(checked.includes('PUT /api/settings/bulk Settings.Update'))
    t.notOk(checked.includes('PUT /api/settings/me Settings.Update'), 'selfService: true')
    t.same([...new Set(rows.map(({ access }) => access))].toSorted(), ['public', 'signed-in'])
    t.match(app.access.print(), /PUT +\/api\/settings\/bulk +signed-in .*checked by the handler/)
  })
})
