/** How mail is sent. */
import { setting, SettingScope } from '@fastify-modular/settings'

export const mailSettings = {
  host: setting.text('mail.host', {
    displayName: 'SMTP server',
    description: 'The server that takes outgoing mail.',
    group: 'Mail',
    tags: ['mail'],
    scope: SettingScope.System,
    default: 'localhost',
    order: 10,
    placeholder: 'smtp.example.org',
  }),
  port: setting.number('mail.port', {
    displayName: 'SMTP port',
    description: '587 for submission, 465 for implicit TLS.',
    docsUrl: 'https://www.rfc-editor.org/rfc/rfc8314',
    group: 'Mail',
    tags: ['mail'],
    scope: SettingScope.System,
    default: 587,
    min: 1,
    max: 65_535,
    order: 20,
  }),
  password: setting.password('mail.password', {
    displayName: 'SMTP password',
    description: 'Never shown again once it is saved.',
    group: 'Mail',
    tags: ['mail', 'secret'],
    scope: SettingScope.System,
    sensitive: true,
    order: 30,
  }),
}
