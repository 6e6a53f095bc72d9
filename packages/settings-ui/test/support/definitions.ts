/** Settings of every type and of every kind that the pages tell apart. */
import { setting, SettingScope } from '@fastify-modular/settings'

const { System, Application, User } = SettingScope

export const definitions = {
  title: setting.text('app.title', {
    displayName: 'Title',
    description: 'Shown in the header of every page.',
    scope: Application,
    required: true,
    default: 'Fastify Modular',
    pattern: '^[^<>]+$',
  }),
  signUp: setting.bool('app.sign_up', {
    displayName: 'Open registration',
    description: 'Whether strangers may create an account.',
    scope: Application,
    default: false,
  }),
  expires: setting.dateTime('app.expires_at', {
    displayName: 'Licence expires',
    scope: Application,
    order: 3,
  }),
  color: setting.color('app.accent', {
    displayName: 'Accent colour',
    scope: Application,
    group: 'Appearance',
    default: '#3b82f6',
  }),
  style: setting.select('app.style', {
    displayName: 'Style',
    description: 'How dense tables are.',
    scope: Application,
    group: 'Appearance',
    allowedValues: ['calm', 'dense', 'playful'],
    default: 'calm',
  }),
  banner: setting.multilineText('app.banner', {
    displayName: 'Banner',
    scope: Application,
    group: 'Appearance',
    placeholder: 'Welcome!',
  }),
  website: setting.url('contact.website', {
    displayName: 'Website',
    scope: Application,
    group: 'Contact',
    default: 'https://example.com/',
  }),
  support: setting.email('contact.support', {
    displayName: 'Support address',
    scope: Application,
    group: 'Contact',
  }),
  features: setting.json('app.features', {
    displayName: 'Features',
    scope: Application,
    group: 'Advanced',
    default: { beta: false },
  }),
  apiToken: setting.text('app.api_token', {
    displayName: 'API token',
    scope: Application,
    group: 'Advanced',
    sensitive: true,
  }),
  site: setting.text('app.site', {
    displayName: 'Site name',
    scope: Application,
    group: 'Advanced',
    default: 'main',
  }),
  theme: setting.select('user.theme', {
    displayName: 'Theme',
    description: 'What you like to look at.',
    scope: User,
    group: 'Appearance',
    allowedValues: ['light', 'dark', 'system'],
    default: 'system',
  }),
  pageSize: setting.number('user.page_size', {
    displayName: 'Rows per page',
    scope: User,
    group: 'Tables',
    default: 25,
    min: 5,
    max: 200,
  }),
  maintenance: setting.bool('system.maintenance', {
    displayName: 'Maintenance mode',
    scope: System,
    default: false,
  }),
  host: setting.text('mail.host', {
    displayName: 'SMTP host',
    description: 'Préis: without it nothing is sent.',
    scope: System,
    group: 'Mail',
    placeholder: 'smtp.example.com',
  }),
  port: setting.number('mail.port', {
    displayName: 'SMTP port',
    scope: System,
    group: 'Mail',
    required: true,
    default: 587,
    min: 1,
    max: 65535,
  }),
  password: setting.password('mail.password', {
    displayName: 'SMTP password',
    scope: System,
    group: 'Mail',
    sensitive: true,
  }),
}
