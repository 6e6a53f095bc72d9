/** Groups with a face: described by the application and its modules, translated, checked at boot. */
import { modules } from '@fastify-modular/core'
import { setting, settings, SettingScope, type SettingsOptions } from '@fastify-modular/settings'
import Fastify from 'fastify'
import { test } from 'tap'
import { logInto } from './support/app.ts'

type Test = { teardown(close: () => unknown): unknown }

async function boot(
  t: Test,
  options: SettingsOptions,
  modulesOf: Parameters<typeof modules>[1]['modules'] = [],
) {
  const lines: string[] = []
  const app = Fastify(logInto(lines))
  t.teardown(() => app.close())
  app.register(settings, { findCaller: () => null, ...options })
  app.register(modules, { modules: modulesOf })
  await app.ready()
  return { app, warnings: lines.filter((line) => line.includes('describe')).map((line) => JSON.parse(line)) }
}

test('of two that describe a group the first counts, member by member, and the boot says who they are', async (t) => {
  const { app, warnings } = await boot(t, { groups: { Mail: { icon: 'mail' } } }, [
    { name: 'one', settingGroups: { Mail: { icon: 'send', description: 'How letters leave.' } } },
    { name: 'two', settingGroups: { Mail: { description: 'Other words.' }, Site: { icon: 'globe' } } },
  ])
  t.same(app.settings.definitions.getGroups(), {
    Mail: { icon: 'mail', description: 'How letters leave.' },
    Site: { icon: 'globe' },
  })
  t.same(
    warnings.map(({ group, first, second }) => [group, first, second]),
    [
      ['Mail', 'the application', 'one'],
      ['Mail', 'the application', 'two'],
    ],
  )
})

const german: Readonly<Record<string, { displayName: string; description?: string; action?: string }>> = {
  Mail: { displayName: 'Post', description: 'Briefe.', action: 'Ausgang' },
  Site: { displayName: 'Auftritt' },
}

test('texts of groups are in the language that is accepted first, of those that are known', async (t) => {
  const { app } = await boot(t, {
    groups: { Mail: { description: 'Letters.', action: { label: 'Outbox', href: '/mails' } } },
    locales: ['de', 'de-AT'],
    definitions: [
      {
        title: setting.text('site.title', {
          displayName: 'Title',
          group: 'Site',
          scope: SettingScope.Application,
        }),
      },
    ],
    translateGroup: (name, _group, locale) => (locale === 'de' ? german[name] : undefined),
  })
  const mail = (accepted?: string) => app.settings.definitions.getGroups(accepted)['Mail']
  t.same(mail('de;q=0.5, sv'), {
    displayName: 'Post',
    description: 'Briefe.',
    action: { label: 'Ausgang', href: '/mails' },
  })
  t.equal(mail('de-AT')?.displayName, 'Post', 'a language without texts gives way to the next')
  const { Site } = app.settings.definitions.getGroups('de')
  t.same(Site, { displayName: 'Auftritt' }, 'a group that only definitions name')
  for (const accepted of [undefined, 'en, de', 'sv', ';;', '__proto__']) {
    t.equal(mail(accepted)?.description, 'Letters.', accepted ?? 'nothing')
    t.notOk(mail(accepted)?.displayName)
  }
})

test('where texts of groups cannot be found, English is shown, and the log says so once', async (t) => {
  const lines: string[] = []
  const app = Fastify(logInto(lines))
  t.teardown(() => app.close())
  app.register(settings, {
    findCaller: () => null,
    groups: { Mail: { description: 'Letters.' } },
    locales: ['de'],
    translateGroup: () => {
      throw new Error('no such file')
    },
  })
  await app.ready()
  const inGerman = () => app.settings.definitions.getGroups('de')
  t.same(
    [inGerman(), inGerman()],
    [app.settings.definitions.getGroups(), app.settings.definitions.getGroups()],
  )
  t.equal(inGerman()['Mail']?.description, 'Letters.')
  t.equal(lines.filter((line) => line.includes('translateGroup failed')).length, 1)
})

test('what no page can show stops the boot, whoever says it', async (t) => {
  for (const href of ['javascript:alert(1)', '//evil.example', 'mails', '/a b', '/\\evil.example']) {
    const Mail = { action: { label: 'Go', href } }
    await t.rejects(
      boot(t, { groups: { Mail } }),
      { code: 'FMOD_CORE_INVALID_OPTION', message: /href/ },
      href,
    )
    await t.rejects(
      boot(t, {}, [{ name: 'mail', settingGroups: { Mail } }]),
      { message: /groups of mail .*href/ },
      href,
    )
  }
})
