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
    keywords: ['Network'],
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
    keywords: ['network'],
  }),
  attempts: setting.number('mail.attempts', {
    displayName: 'Attempts',
    scope: System,
    group: 'Mail',
    default: 3,
    advanced: true,
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
    confirm: 'Your tables are drawn anew.',
  }),
  retries: setting.number('mail.retries', {
    displayName: 'Retries',
    scope: System,
    group: 'Mail',
    default: 3,
  }),
  sender: setting.email('mail.sender', { displayName: 'Sender', scope: System, group: 'Mail' }),
}

/** Fewer than a search is worth. */
export const few = {
  sender: setting.text('few.sender', {
    displayName: 'Sender',
    description: 'The name that letters are signed with.',
    scope: System,
    placeholder: 'Harbour notes',
    pattern: '^[^<>]+$',
  }),
  code: setting.text('few.code', {
    displayName: 'Code',
    scope: System,
    pattern: '^[A-Z]{2,10}$',
    patternHint: 'Two to ten capital letters, such as ABC.',
  }),
  receipts: setting.bool('few.receipts', { displayName: 'Receipts', scope: System, default: true }),
  copies: setting.bool('few.copies', { displayName: 'Copies', scope: System, default: false }),
  color: setting.color('few.color', { displayName: 'Colour', scope: System, default: '#3b82f6' }),
}
