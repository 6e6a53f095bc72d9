import { test } from 'tap'
import { setting, SettingScope, type SettingsReader } from '@fastify-modular/settings'
import { fakeSettings } from '@fastify-modular/settings/testing'
import { rejection } from '../support/app.ts'

const { System } = SettingScope
const mail = {
  host: setting.text('fake.host', { displayName: 'Host', scope: System, default: 'localhost' }),
  port: setting.number('fake.port', { displayName: 'Port', scope: System, default: 587, min: 1 }),
}

class Mailer {
  readonly #settings: SettingsReader
  constructor(settings: SettingsReader) {
    this.#settings = settings
  }
  get address(): string {
    return `${this.#settings.get(mail.host)}:${this.#settings.get(mail.port)}`
  }
}

test('S8: fake settings give a unit its values without an application', async (t) => {
  t.equal(new Mailer(fakeSettings(mail)).address, 'localhost:587')
  t.equal(new Mailer(fakeSettings(mail, { 'fake.port': 25 })).address, 'localhost:25')
})

test('S8: fake settings are written and notify listeners like real ones, each on its own', async (t) => {
  const settings = fakeSettings(mail, { 'fake.port': 25 })
  const received: string[] = []
  settings.on(mail.host, (host) => void received.push(host))
  await settings.contract.setSetting('fake.host', 'mx.example.com', System)
  t.equal(settings.get(mail.host), 'mx.example.com')
  t.same(received, ['mx.example.com'])
  t.match(await rejection(settings.contract.setSetting('fake.host', 5, System)), { status: 422 })
  t.match(
    await rejection(settings.contract.setSetting('fake.port', 26, System)),
    { status: 409 },
    'a given value is fixed',
  )
  t.equal(fakeSettings(mail).get(mail.host), 'localhost')
  t.equal((await settings.forUser('alice')).get(mail.port), 25)
})

test('S8: values that do not fit, and definitions that are wrong, fail at once', async (t) => {
  t.throws(() => fakeSettings(mail, { 'fake.port': 0 }), { code: 'FMOD_SETTINGS_CANNOT_OVERRIDE' })
  // @ts-expect-error -- a port is a number
  t.throws(() => fakeSettings(mail, { 'fake.port': '25' }), { code: 'FMOD_SETTINGS_CANNOT_OVERRIDE' })
  // @ts-expect-error -- no such setting
  t.throws(() => fakeSettings(mail, { 'fake.prot': 25 }), { code: 'FMOD_SETTINGS_CANNOT_OVERRIDE' })
  const twins = { a: mail.host, b: { ...mail.host, displayName: 'Again' } }
  t.throws(() => fakeSettings(twins), { code: 'FMOD_SETTINGS_INVALID_DEFINITIONS' })
})
