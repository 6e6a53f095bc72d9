/** Settings that say more about themselves than their type. */
import { setting, SettingScope } from '@fastify-modular/settings'

const { System, User } = SettingScope

export const hinted = {
  enabled: setting.bool('mail.enabled', {
    displayName: 'Outgoing mail',
    scope: System,
    group: 'Mail',
    default: false,
    order: 1,
  }),
  timeout: setting.number('mail.timeout', {
    displayName: 'Timeout',
    scope: System,
    group: 'Mail',
    default: 30,
    unit: 'seconds',
    tags: ['mail', 'Network'],
    showWhen: { key: 'mail.enabled', equals: true },
    order: 2,
  }),
  transport: setting.select('mail.transport', {
    displayName: 'Transport',
    scope: System,
    group: 'Mail',
    options: [
      { value: 'smtp', label: 'SMTP server', description: 'A server of your own.' },
      { value: 'api', label: 'Web service' },
    ],
    default: 'smtp',
    confirm: 'Mail in transit is dropped.',
    restart: true,
    docsUrl: 'https://example.com/docs/mail#transport',
    order: 3,
  }),
  pool: setting.number('mail.pool', {
    displayName: 'Connections',
    scope: System,
    group: 'Mail',
    default: 4,
    min: 1,
    advanced: true,
    tags: ['network'],
  }),
  secretSwitch: setting.text('mail.internal', {
    displayName: 'Internal',
    scope: System,
    group: 'Mail',
    hidden: true,
  }),
  relay: setting.text('mail.relay', {
    displayName: 'Relay',
    scope: System,
    group: 'Mail',
    showWhen: { key: 'mail.internal', equals: 'relayed' },
    order: 9,
  }),
  wide: setting.select('own.density', {
    displayName: 'Density',
    scope: User,
    options: [
      { value: 's', label: 'Small' },
      { value: 'l', label: 'Large' },
    ],
    default: 's',
  }),
}
