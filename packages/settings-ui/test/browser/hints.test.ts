/** What definitions say about themselves (S6 of the settings): labels, units, keywords, conditions, warnings. */
import { setting, SettingScope } from '@fastify-modular/settings'
import { shows } from '@fastify-modular/test-support/shows'
import { test } from 'tap'
import { problems } from '../support/axe.js'
import { hinted } from '../support/hinted.js'
import { startHost } from '../support/host.js'
import { plainHost, plainPath } from '../support/plain-host.js'
import { visit } from '../support/visit.js'

const { Application, System, User } = SettingScope

/** Each hides the other. */
const inTurns = {
  day: setting.bool('turn.day', {
    displayName: 'Day',
    scope: System,
    group: 'Turns',
    default: false,
    showWhen: { key: 'turn.night', equals: false },
  }),
  night: setting.bool('turn.night', {
    displayName: 'Night',
    scope: System,
    group: 'Turns',
    default: false,
    showWhen: { key: 'turn.day', equals: false },
  }),
}

test('hints of definitions', async (t) => {
  const visited = await visit(t, {
    settings: { definitions: [hinted, inTurns], overrides: { 'mail.pool': 2 } },
  })
  if (!visited) return
  const { page, app, open, reload, row, url, browser, writes, complaints, field, status } = visited
  const save = page.locator('.fm-bar').getByRole('button', { name: /^Save \d/ })
  const dialog = page.getByRole('dialog')

  await t.test('options are shown by their labels, and explain themselves', async (t) => {
    await open('/settings/manage?group=mail')
    const transport = page.getByRole('radiogroup', { name: 'Transport' })
    await shows(t, () => transport.locator('label').allTextContents(), ['SMTP server', 'Web service'])
    await shows(t, () => transport.locator('label').first().getAttribute('title'), 'A server of your own.')
    const height = async () => (await row('mail.transport').boundingBox())?.height
    const before = await height()
    await page.getByRole('radio', { name: 'Web service' }).check()
    t.equal(await height(), before, 'the row keeps its height under the pointer')
    await row('mail.transport').getByText('was SMTP server').waitFor()
  })

  await t.test('a hidden setting is not there, advanced ones behind one button per group', async (t) => {
    await open('/settings/manage?group=mail')
    t.equal(await row('mail.internal').count(), 0)
    t.notOk(await row('mail.pool').isVisible())
    await page.getByText('2 advanced settings').click()
    await shows(t, () => row('mail.pool').isVisible(), true)
    await reload()
    await page.getByRole('searchbox').fill('connections')
    await shows(t, () => row('mail.pool').isVisible(), true, 'a search opens it')
    await page.goto('about:blank')
    await page.goto(`${url}/settings/manage#setting:mail.pool`)
    await page.locator('[data-key="mail.pool"] input:focus').waitFor()
  })

  await t.test(
    'a setting that depends on another comes and goes with its draft, not with its own',
    async (t) => {
      await open('/settings/manage?group=mail')
      t.notOk(await row('mail.timeout').isVisible())
      await field('Outgoing mail').click()
      await shows(t, () => row('mail.timeout').isVisible(), true)
      await shows(t, () => row('mail.timeout').textContent(), /seconds/)
      await field('Timeout').fill('60')
      await row('mail.timeout').getByText('was 30 seconds').waitFor()
      await field('Outgoing mail').click()
      await shows(t, () => row('mail.timeout').isVisible(), true, 'what is unsaved stays in view')
      await row('mail.timeout').getByRole('button', { name: 'Undo' }).click()
      await shows(t, () => row('mail.timeout').isVisible(), false)
      await page.goto('about:blank')
      await page.goto(`${url}/settings/manage#setting:mail.timeout`)
      await page.locator('[data-key="mail.enabled"] input:focus').waitFor()
      t.notOk(await row('mail.timeout').isVisible(), 'a link leads to what decides')
    },
  )

  await t.test(
    'UI-23, UI-24: axe finds nothing and nothing is cut off: all of it open, 320 px',
    async (t) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await open('/settings/manage?group=mail', 'ada', { colorScheme, size: { width: 320, height: 640 } })
        await field('Outgoing mail').click()
        await page.getByText('2 advanced settings').click()
        t.same(await problems(page), [])
        await shows(
          t,
          () =>
            page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
          0,
        )
        await page.getByRole('radio', { name: 'Web service' }).check()
        await page.keyboard.press('Control+s')
        await dialog.waitFor()
        t.same(await problems(page), [])
      }
    },
  )

  await t.test('a search finds keywords, and says so; rows do not print them', async (t) => {
    await open('/settings/manage?group=mail')
    await app.settings.contract.setSetting('mail.enabled', true, System)
    await reload()
    t.equal(await page.getByText('Network').count(), 0)
    await page.getByRole('searchbox').fill('network')
    await status.getByText('2 settings found').waitFor()
    await row('mail.timeout').getByText('Also called Network').waitFor()
  })

  await t.test('a change that asks for it is confirmed before it is saved, by whatever way', async () => {
    await open('/settings/manage?group=mail')
    await page.getByRole('radio', { name: 'Web service' }).check()
    await page.keyboard.press('Control+s')
    await dialog.getByText('Mail in transit is dropped.').waitFor()
    await dialog.getByText('Takes effect after a restart.').waitFor()
    await page.keyboard.press('Escape')
    await save.click()
    await dialog.getByText('Mail in transit is dropped.').waitFor()
    t.equal(writes.length, 0)
    await page
      .getByRole('dialog', { name: 'Change Transport?' })
      .getByRole('button', { name: 'Save' })
      .click()
    await status.getByText('1 setting saved').waitFor()
    t.equal(app.settings.get(hinted.transport), 'api')
    await row('mail.transport').getByRole('button', { name: 'Reset' }).click()
    await page.getByRole('dialog', { name: 'Reset Transport?' }).getByText('Mail in transit').waitFor()
    t.equal(app.settings.get(hinted.transport), 'api')
    await dialog.getByRole('button', { name: 'Reset' }).click()
    await status.getByText('Transport was reset.').waitFor()
    t.equal(app.settings.get(hinted.transport), 'smtp')
  })

  await t.test('so is a preference; until then it stays a draft, also when it is left', async (t) => {
    await open('/settings/preferences', 'vera')
    const stored = () => app.settings.contract.getSettingAs('own.density', User, 'vera')
    await page.getByRole('radio', { name: 'Large' }).check()
    await dialog.getByText('Your tables are drawn anew.').waitFor()
    await page.keyboard.press('Escape')
    await save.waitFor()
    await page.getByRole('radio', { name: 'Large' }).press('Tab')
    t.equal(writes.length, 0)
    t.equal(await dialog.count(), 0)
    await save.click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row('own.density').getByText('Saved', { exact: true }).waitFor()
    t.equal(await stored(), 'l')
    await save.waitFor({ state: 'detached' })
  })

  await t.test('what is hidden may decide whether another is there', async (t) => {
    await open('/settings/manage?group=mail')
    t.notOk(await row('mail.relay').isVisible())
    await app.settings.contract.setSetting('mail.internal', 'relayed', System)
    await page.reload()
    await row('mail.relay').waitFor()
    await page.goto(`${url}/settings/manage?group=mail#setting:mail.internal`)
    await row('mail.relay').waitFor()
  })

  await t.test('a link to one of two settings that hide each other leads nowhere', async (t) => {
    await open('/settings/manage?group=mail')
    await app.settings.contract.setSetting('turn.day', true, System)
    await app.settings.contract.setSetting('turn.night', true, System)
    await page.goto('about:blank')
    await page.goto(`${url}/settings/manage?group=mail#setting:turn.day`)
    await field('Outgoing mail').check()
    await shows(t, () => row('mail.timeout').isVisible(), true, 'the page goes on')
  })

  await t.test('documentation opens in a new tab, without a referrer', async (t) => {
    await open('/settings/manage?group=mail')
    await row('mail.transport').getByRole('button', { name: 'More for Transport' }).click()
    const link = page.getByRole('menuitem', { name: 'Documentation Transport' })
    await shows(t, () => link.getAttribute('href'), 'https://example.com/docs/mail#transport')
    await shows(t, () => link.getAttribute('rel'), 'noreferrer')
    await shows(t, () => link.getAttribute('target'), '_blank')
  })

  await t.test('UI-06: a locked setting names what locks it, to those who may change settings', async (t) => {
    await open('/settings/manage?group=mail')
    await page.getByText('2 advanced settings').click()
    await row('mail.pool').getByText('Set on the server by overrides.').waitFor()
    await open('/settings/manage?group=mail', 'vera')
    await page.getByText('2 advanced settings').click()
    const reason = row('mail.pool').getByText('Set on the server. It can be changed there only.')
    await shows(t, () => reason.isVisible(), true)
  })

  await t.test(
    'a setting that needs a permission is read-only without it and names it, and so is its variable to others',
    async (t) => {
      process.env['T_UI_SENDER'] = 'a@example.org'
      t.teardown(() => delete process.env['T_UI_SENDER'])
      const write = 'Mail.Configure'
      const { url, app } = await startHost(t, {
        settings: { overrides: {} },
        modules: [
          {
            name: 'mail',
            permissions: { [write]: 'Configure mail' },
            settings: {
              server: setting.text('mail.server', {
                displayName: 'Server',
                scope: Application,
                writePermission: write,
              }),
              sender: setting.text('mail.sender', {
                displayName: 'Sender',
                scope: Application,
                writePermission: write,
                env: 'T_UI_SENDER',
              }),
              footer: setting.text('mail.footer', {
                displayName: 'Footer',
                scope: User,
                writePermission: write,
              }),
            },
          },
        ],
      })
      const as = async (user: string, path: string) => {
        await browser.addCookies([{ name: 'user', value: user, url }])
        await page.goto(`${url}/settings/${path}`)
      }
      const isReadOnly = (name: string) => field(name).evaluate((input: HTMLInputElement) => input.readOnly)
      await as('eve', 'manage')
      await row('mail.server').getByText('Changing it needs the permission “Mail.Configure”.').waitFor()
      t.same([await isReadOnly('Server'), await isReadOnly('Footer')], [true, true])
      await row('mail.sender').getByText('Set on the server. It can be changed there only.').waitFor()
      await as('eve', 'preferences')
      await row('mail.footer').waitFor()
      t.notOk(await isReadOnly('Footer'), "a person's own value stays his own")
      await as('ada', 'manage')
      await row('mail.sender').getByText('Set on the server by T_UI_SENDER.').waitFor()
      t.notOk(await isReadOnly('Server'))
      t.equal(await row('mail.server').getByText('permission').count(), 0)
      await app.settings.contract.setSetting('mail.server', 'mail.test', Application, undefined, {
        actor: 'ada',
      })
      const change = page.locator('.fm-event').filter({ hasText: 'changed Server' })
      const undo = change.getByRole('button', { name: 'Undo' })
      await as('ada', 'manage?view=activity')
      await undo.waitFor()
      await as('eve', 'manage?view=activity')
      await change.waitFor()
      t.equal(await undo.count(), 0, 'what would be refused is not offered')
    },
  )

  await t.test('definitions are asked for in the language of the page, if the host names one', async (t) => {
    const german = { displayName: 'Auf Deutsch' }
    const host = await startHost(t, {
      settings: {
        definitions: [hinted],
        overrides: {},
        locales: ['de'],
        translate: (_definition, locale) => (locale === 'de' ? german : undefined),
        translateGroup: (name) => (name === 'Mail' ? { displayName: 'Post' } : undefined),
      },
      ui: { locale: 'de' },
      modules: [plainHost],
    })
    await browser.addCookies([{ name: 'user', value: 'ada', url: host.url }])
    await page.goto(`${host.url}/settings/manage?group=mail`)
    await page.getByRole('heading', { level: 2, name: 'Post' }).waitFor()
    await shows(t, () => row('mail.transport').getByText('Auf Deutsch').first().isVisible(), true)
    await page.goto(host.url + plainPath('<fm-settings page="manage" group="Mail"></fm-settings>'))
    await page.getByRole('heading', { level: 1, name: 'Post' }).waitFor()
  })

  await t.test('preferences speak of labels too', async (t) => {
    await open('/settings/preferences', 'vera')
    await app.settings.contract.setSetting('own.density', 'l', SettingScope.Application)
    await app.settings.contract.setSetting('own.density', 's', User, 'vera')
    await page.reload()
    await row('own.density').getByText('The default is Large.').waitFor()
    t.same(complaints, [])
  })
})
