/** The texts of the components and how they are filled in. Hosts replace any of them; `{name}` stands for what the text is about. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'

/** Texts by plural category of `Intl.PluralRules`; `other` is for all that have none of their own. */
export type Plural = { readonly [C in Intl.LDMLPluralRule]?: string } & { readonly other: string }

/** All texts, by name. */
export type Messages = {
  readonly [N in keyof typeof defaultMessages]: (typeof defaultMessages)[N] extends string ? string : Plural
}

/** The English texts. */
export const defaultMessages = {
  adminHeading: 'Settings',
  userHeading: 'My settings',
  loading: 'Loading settings…',
  search: 'Search settings',
  searchHint: 'Words, or @modified, @locked, @sensitive, @type:json, tag:mail',
  onlyChanged: 'Only changed',
  clearSearch: 'Clear search',
  found: { one: '{count} setting found', other: '{count} settings found' },
  noMatch: 'Nothing matches “{query}”.',
  noneModified: 'Everything here has its default value.',
  moreIn: '{count} more in {tab}',
  groups: 'Groups',
  general: 'General',
  scopes: 'Scopes',
  system: 'System',
  application: 'Application',
  empty: 'No settings are defined yet.',

  default: 'Default',
  overridden: 'Overridden',
  ownChoice: 'Your choice',
  locked: 'Locked',
  unsaved: 'Unsaved',
  invalid: 'Not valid',
  conflict: 'Changed by somebody else',
  lockedHint: 'Fixed by the configuration of the server.',
  lockedBy: 'Fixed by “{source}”.',
  forUsers: 'Default for all users',
  inherited: 'From the application: {value}',
  was: 'was {value}',
  secretSet: '•••••••• (set)',
  secretNotSet: 'Not set',
  unchanged: 'Leave as it is',
  staleValue: 'The stored value is not allowed any more; the default holds.',
  noLongerAllowed: '{value} (no longer allowed)',
  lastChanged: 'Changed by {name}, {time}',
  lastChangedBySomebody: 'Changed {time}',
  restart: 'Takes effect after a restart.',
  documentation: 'Documentation',
  advanced: 'Show advanced',
  unsupported: 'This page cannot change settings of this type.',
  useDefault: 'Use the default',
  noValue: 'no value',
  on: 'On',
  off: 'Off',

  reset: 'Reset',
  clear: 'Clear',
  undo: 'Undo',
  history: 'History',
  copyLink: 'Copy link',
  linkCopied: 'Link copied.',
  show: 'Show',
  hide: 'Hide',
  formatJson: 'Format',
  open: 'Open',
  picker: '{name}: picker',
  range: 'from {min} to {max}',
  rangeFrom: 'from {min} up',
  rangeTo: 'up to {max}',
  timeZone: 'Time zone: {zone}',

  unsavedCount: { one: '{count} unsaved change', other: '{count} unsaved changes' },
  review: 'Review',
  discard: 'Discard',
  discarded: 'The changes were discarded.',
  save: 'Save changes',
  saving: 'Saving…',
  saved: { one: 'Saved {count} setting.', other: 'Saved {count} settings.' },
  resetDone: '{name} was reset.',
  changedMeanwhile: '{name} has changed meanwhile.',
  reviewTitle: 'Unsaved changes',
  newSecret: 'replaced',
  cancel: 'Cancel',
  close: 'Close',
  resetTitle: '{action} {name}?',
  confirmClear: 'The stored secret is removed. Nobody can copy it back.',

  problemTitle: 'There is a problem',
  titleError: 'Error ({count}): ',
  theirs: 'Changed by {name}, {time}, to {value}.',
  somebody: 'somebody',
  useTheirs: 'Use theirs',
  keepMine: 'Keep mine',
  decideFirst: 'Somebody else has changed this setting. Decide which value holds.',
  readOnly: 'You can look at these settings. To change them, you need the permission “Settings.Update”.',
  systemReadOnly: 'System settings can be changed by administrators only.',
  forbidden: 'You may not change these settings. What you have entered is kept.',
  loadFailed: 'The settings could not be loaded.',
  unreachable: 'The server does not answer. What you have entered is kept.',
  serverFailed: 'The server could not do this. What you have entered is kept.',
  refused: 'This was refused: {detail}',
  requestId: 'Request {id}',
  tryAgain: 'Try again',
  dismiss: 'Dismiss',
  signedOutTitle: 'You were signed out',
  signedOut: 'What you have entered is kept. Sign in in another tab, then try again.',
  signIn: 'Sign in in a new tab',

  emptyRequired: 'Enter a value.',
  notANumber: 'Enter a number, such as 42 or -2.5.',
  decimalComma: 'Enter a number with a point instead of a comma.',
  outOfRange: 'Enter a number {range}.',
  invalidJson: 'This is no JSON: look at line {line}, column {column}.',
  invalidDateTime: 'Enter a date and a time.',
  invalidColor: 'Enter a colour as #RRGGBB.',
  invalidUrl: 'Enter a web address, such as https://example.com.',
  invalidEmail: 'Enter one email address, such as name@example.com.',
  patternMismatch: 'Enter a value that matches {pattern}.',

  historyTitle: 'History of {name}',
  historyEmpty: 'Nobody has changed this setting.',
  historySet: 'set to {value}',
  historyCleared: 'reset',
  historySecret: 'a new secret',
  historyLong: 'a value of {bytes} bytes',
  historyShow: 'Show value',
  historyOlder: 'Show older',
  restore: 'Restore',
  restored: '{name} has the older value again.',

  transfer: 'Export and import',
  export: 'Export',
  exportDone: 'Exported {count} settings without secrets.',
  import: 'Import…',
  importTitle: 'Import settings',
  importFile: 'Choose a file',
  importMerge: 'Keep what the file does not mention',
  importReplace: 'Reset what the file does not mention',
  importApply: 'Import',
  importNothing: 'The file changes nothing.',
  importUnreadable: 'This is no export of settings.',
  importCreate: 'New',
  importUpdate: 'Changed',
  importUnknown: 'Unknown',
  importDone: 'The file was imported.',
} as const

export type Params = Readonly<Record<string, string | number>>

/** `'was {value}'`, `{ value: 25 }` → `was 25` */
export function format(text: string, params: Params = {}): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(params[name] ?? placeholder))
}

/** The form for a number in a language, with `{count}` filled in. */
export function plural(forms: Plural, count: number, locale: string): string {
  return format(forms[new Intl.PluralRules(locale).select(count)] ?? forms.other, { count })
}

/** Why an action failed, and what to do about it. */
export function failureText(failure: SettingsRequestError, messages: Messages): string {
  const { status, message, errors, requestId } = failure
  if (status === 0) return messages.unreachable
  if (status === 401) return messages.signedOut
  if (status === 403) return messages.forbidden
  if (status >= 500) {
    return messages.serverFailed + (requestId ? ` ${format(messages.requestId, { id: requestId })}` : '')
  }
  const details = Object.entries(errors).map(([key, texts]) => `${key}: ${texts.join(' ')}`)
  return format(messages.refused, { detail: details.join(' ') || message })
}
