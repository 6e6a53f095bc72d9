/** The settings of the application itself. */
import { setting, SettingScope } from '@fastify-modular/settings/tokens'
import type { SettingGroups } from '@fastify-modular/settings'
import { z } from 'zod'

const { Application, System, User } = SettingScope

/** The accent until somebody picks one. */
export const defaultAccent = '#2f57dd'

const toOption = (zone: string) => ({ value: zone, label: zone.replaceAll('_', ' ') })
const otherZones = Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')

const features = z.object({
  search: z.boolean().default(true).meta({ title: 'Search of notes' }),
  sharing: z.boolean().default(true).meta({ title: 'Public links' }),
})

/** What the settings pages say of the groups below. */
export const groups: SettingGroups = {
  Appearance: { icon: 'brush', description: 'How this application looks to everybody.' },
  Contact: { icon: 'users', description: 'Where people find your organisation, and help.' },
  Regional: { icon: 'globe', description: 'Languages, times and dates.' },
  Release: { icon: 'send', description: 'What opens to the public, and when.' },
  Integration: {
    icon: 'plug',
    description: 'How other programs work with this one.',
    action: { label: 'Open the API reference', href: '/api/docs' },
  },
  Operation: { icon: 'wrench', description: 'Who gets in while you work on it.' },
}

export const appSettings = {
  title: setting.text('app.title', {
    displayName: 'Title',
    description: 'The name of this application, shown on every page.',
    group: 'Appearance',
    scope: Application,
    public: true, // pages of strangers follow it
    required: true,
    default: 'Fastify Modular',
    order: 10,
    keywords: ['app name', 'brand'],
  }),
  logo: setting.select('app.logo', {
    displayName: 'Logo',
    description: 'The sign beside the title, in the primary colour.',
    group: 'Appearance',
    scope: Application,
    public: true, // pages of strangers follow it
    options: [
      { value: 'note', label: 'Note' },
      { value: 'leaf', label: 'Leaf' },
      { value: 'bolt', label: 'Bolt' },
      { value: 'wave', label: 'Wave' },
    ],
    default: 'note',
    order: 15,
  }),
  banner: setting.multilineText('app.banner', {
    displayName: 'Banner',
    description: 'A message at the top of every page. Leave it empty to show none.',
    group: 'Appearance',
    scope: Application,
    public: true, // pages of strangers follow it
    order: 20,
    placeholder: 'We are closed on Friday.',
    keywords: ['announcement', 'notice'],
  }),
  primaryColor: setting.color('app.primary_color', {
    displayName: 'Primary colour',
    description: 'The colour of buttons, links and the logo. A shade that is hard to read is adjusted.',
    group: 'Appearance',
    scope: Application,
    public: true, // pages of strangers follow it
    required: true,
    default: defaultAccent,
    order: 30,
    keywords: ['color', 'accent', 'brand'],
  }),
  supportEmail: setting.email('app.support_email', {
    displayName: 'Support address',
    description: 'Where people write when they need help: a link at the foot of each page.',
    group: 'Contact',
    scope: Application,
    order: 10,
    placeholder: 'help@example.org',
    keywords: ['contact', 'help'],
  }),
  homepageUrl: setting.url('app.homepage_url', {
    displayName: 'Home page',
    description: 'The public site of your organisation: a link at the foot of each page.',
    group: 'Contact',
    scope: Application,
    order: 20,
    placeholder: 'https://example.org',
    keywords: ['website', 'link'],
  }),
  timezone: setting.select('app.timezone', {
    displayName: 'Time zone',
    description: 'The zone in which pages show dates and times.',
    group: 'Regional',
    scope: Application,
    options: [toOption('UTC'), ...otherZones.map(toOption)],
    default: 'UTC',
    order: 10,
    keywords: ['timezone', 'clock'],
  }),
  launchAt: setting.dateTime('app.launch_at', {
    displayName: 'Launch',
    description: 'When the application opens to the public. The home page counts the days.',
    group: 'Release',
    scope: Application,
    order: 10,
    keywords: ['go live', 'release date'],
  }),
  featureJson: setting.schema('app.feature_json', features, {
    displayName: 'Features',
    description: 'Parts of the pages that can be switched off.',
    group: 'Release',
    scope: Application,
    default: { search: true, sharing: true },
    flag: true,
    order: 20,
    advanced: true,
    keywords: ['feature flags', 'beta'],
  }),
  apiSecret: setting.text('app.api_secret', {
    displayName: 'API secret',
    description: 'Signs shared notes, in the header X-Signature. Never shown again once it is saved.',
    group: 'Integration',
    scope: Application,
    sensitive: true,
    order: 10,
    keywords: ['token', 'signature', 'password'],
  }),
}

/** What each user may choose; administrators set the defaults. */
export const userSettings = {
  theme: setting.select('app.theme', {
    displayName: 'Theme',
    description: 'Light, dark, or as your system is set.',
    group: 'Appearance',
    scope: User,
    options: [
      { value: 'light', label: 'Light' },
      { value: 'dark', label: 'Dark' },
      {
        value: 'system',
        label: 'System',
        description: 'Follows the device, also when it changes at night.',
      },
    ],
    default: 'system',
    order: 40,
    keywords: ['dark mode', 'night', 'appearance'],
  }),
  language: setting.select('app.language', {
    displayName: 'Language',
    description: 'The language of pages and dates.',
    group: 'Regional',
    scope: User,
    options: [
      { value: 'en', label: 'English' },
      { value: 'de', label: 'Deutsch' },
    ],
    default: 'en',
    order: 20,
    keywords: ['locale', 'translation'],
  }),
  density: setting.select('user.preferred_density', {
    displayName: 'Density',
    description: 'How close notes and lines stand together.',
    group: 'Appearance',
    scope: User,
    options: [
      { value: 'compact', label: 'Compact', description: 'Most lines on a screen.' },
      { value: 'comfortable', label: 'Comfortable' },
      { value: 'spacious', label: 'Spacious', description: 'Easiest to hit with a finger.' },
    ],
    default: 'comfortable',
    order: 50,
    keywords: ['compact', 'spacing'],
  }),
}

export const systemSettings = {
  maintenanceMode: setting.bool('system.maintenance_mode', {
    displayName: 'Maintenance mode',
    description: 'Everybody but administrators is turned away for the time being.',
    confirm: 'Everybody who works with the application notices this at once.',
    group: 'Operation',
    scope: System,
    public: true, // pages of strangers follow it
    default: false,
    order: 10,
    keywords: ['close the site', 'shut down', 'offline', 'downtime'],
  }),
}
