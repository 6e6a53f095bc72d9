import { test } from 'tap'
import { createRule, SettingsBuilder } from '#src/definitions/builder.js'
import { Registry } from '#src/definitions/registry.js'
import { setting } from '#src/definitions/tokens.js'
import { type SettingDefinition, SettingScope, SettingType } from '#src/setting-definition.js'
import { define } from '../registered.js'

const text = (key: string): SettingDefinition => define(SettingType.Text, { key })

test('S 2.1: add returns the builder, so that calls chain', async (t) => {
  const registry = new Registry()
  const builder = new SettingsBuilder(registry, 'test')
  t.equal(builder.add(text('a.one')).add(text('a.two')), builder)
  t.same(
    registry.getDefinitions().map(({ key }) => key),
    ['a.one', 'a.two'],
  )
})

test('S 2.1: a module adds definitions and maps of them alike', async (t) => {
  const registry = new Registry()
  const mail = {
    host: setting.text('mail.host', {
      displayName: 'Host',
      scope: SettingScope.System,
      default: 'localhost',
    }),
    key: setting.text('mail.key', { displayName: 'Key', scope: SettingScope.System }),
  }
  const builder = new SettingsBuilder(registry, 'mail')
  t.equal(
    builder.addAll(
      text('a.one'),
      mail,
      setting.bool('b.two', { displayName: 'B', scope: SettingScope.User }),
    ),
    builder,
  )
  t.same(
    registry.all().map(({ definition, module }) => [definition.key, module]),
    [
      ['a.one', 'mail'],
      ['mail.host', 'mail'],
      ['mail.key', 'mail'],
      ['b.two', 'mail'],
    ],
  )
})

test('what is neither a definition nor a map is a boot error that names the module', async (t) => {
  const registry = new Registry()
  const sources: unknown[] = [
    undefined,
    null,
    5,
    'app.title',
    { nothing: undefined },
    { key: 5, displayName: 'x' },
  ]
  new SettingsBuilder(registry, 'sloppy').addAll(...(sources as SettingDefinition[]))
  t.throws(() => registry.check(), {
    message: /module "sloppy" adds something that is not a setting definition/,
  })
})

test('a rule sees the values of its settings by name, and belongs to each of them', async (t) => {
  const mail = {
    user: setting.text('mail.user', { displayName: 'User', scope: SettingScope.System }),
    password: setting.password('mail.password', { displayName: 'Password', scope: SettingScope.System }),
  }
  const registry = new Registry()
  const builder = new SettingsBuilder(registry, 'mail')
  const chained = builder
    .addAll(mail, text('a.other'))
    .rule(mail, ({ user, password }) =>
      user !== null && password === null ? 'Enter a password too.' : undefined,
    )
  t.equal(chained, builder)
  registry.check()
  const [rule] = registry.rulesOf('mail.user')
  t.same(registry.rulesOf('mail.password'), [rule])
  t.same(registry.rulesOf('a.other'), [])
  t.same(
    rule?.check((key) => (key === 'mail.user' ? 'somebody' : null)),
    ['Enter a password too.'],
  )
  t.same(
    rule?.check(() => null),
    [],
  )
})

test('a rule about a setting that no module defines is a boot error', async (t) => {
  const registry = new Registry()
  const foreign = setting.text('other.key', { displayName: 'Other', scope: SettingScope.System })
  new SettingsBuilder(registry, 'mail').rule({ foreign }, () => undefined)
  t.throws(() => registry.check(), {
    code: 'FMOD_SETTINGS_INVALID_DEFINITIONS',
    message: /module "mail" looks at "other\.key"/,
  })
  new SettingsBuilder(registry, 'other').add(foreign)
  registry.check()
  registry.freeze()
  t.throws(() => new SettingsBuilder(registry, 'late').rule({ foreign }, () => undefined), {
    code: 'FMOD_CORE_ADDED_LATE',
  })
})

test('a rule that returns something other than messages is a mistake that names its settings', async (t) => {
  const registry = new Registry()
  const token = setting.text('a.b', { displayName: 'B', scope: SettingScope.System })
  // @ts-expect-error -- a rule returns messages
  new SettingsBuilder(new Registry(), 'test').rule({ token }, () => true)
  new SettingsBuilder(registry, 'test').rule({ token }, () => JSON.parse('true') as string)
  t.throws(() => registry.rulesOf('a.b')[0]?.check(() => null), {
    code: 'FMOD_SETTINGS_INVALID_RULE_RESULT',
    message: /a\.b/,
  })
})

test('a rule that throws at a secret is a mistake whose error has nothing of the secret', async (t) => {
  const port = setting.number('mail.port', { displayName: 'Port', scope: SettingScope.System })
  const password = setting.password('mail.password', {
    displayName: 'Password',
    scope: SettingScope.System,
    sensitive: true,
  })
  const failing = ({ port }: { port: number | null }) => {
    throw new Error(`hunter2 ${port}`)
  }
  t.throws(() => createRule('test', { port, password }, failing).check(() => null), {
    code: 'FMOD_SETTINGS_INVALID_RULE_RESULT',
    message: /^(?!.*hunter2).*mail\.port, mail\.password/,
  })
  t.throws(() => createRule('test', { port }, failing).check(() => null), { message: 'hunter2 null' })
})
