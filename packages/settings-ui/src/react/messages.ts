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
  userHeading: 'Preferences',
  loading: 'Loading settings…',
  groups: 'Groups',
  general: 'General',
  system: 'System',
  application: 'Application',
  empty: 'There are no settings here.',
  needAttention: { one: '{count} needs attention', other: '{count} need attention' },
  hasChanges: 'changed from the default',
  savedAsYouGo: 'Saved as you go.',

  search: 'Search settings',
  clearSearch: 'Clear search',
  found: { one: '{count} setting found', other: '{count} settings found' },
  results: { one: '{count} result', other: '{count} results' },
  resultsFor: { one: '{count} result for “{query}”', other: '{count} results for “{query}”' },
  searchExactly: 'Search for “{query}” instead',
  didYouMean: 'Did you mean “{query}”?',
  noMatch: 'Nothing matches “{query}”.',
  noneLeft: 'No setting has all of this.',
  withoutFilter: {
    one: '{count} more matches without the filter.',
    other: '{count} more match without the filter.',
  },
  showAll: 'Show all {count}',
  alsoCalled: 'Also called {keyword}',
  resultAt: '{name}, {index} of {count}',

  filter: 'Filter',
  showOnly: 'Show only',
  where: 'Where',
  filterModified: 'Changed',
  filterAttention: 'Need attention',
  filterLocked: 'Locked',
  filterSensitive: 'Secret',
  removeFilter: 'Remove the filter {name}',
  clearFilters: 'Clear filters',
  more: 'More',
  showKeys: 'Show keys',
  slashKey: 'Key / starts a search',

  overridden: 'Changed from the default.',
  locked: 'Locked',
  secret: 'Secret',
  unsaved: 'Unsaved',
  unsavedWas: 'Unsaved · was {value}',
  savedNow: 'Saved',
  notSaved: 'Not saved',
  invalid: 'Not valid',
  conflict: 'Changed by somebody else',
  lockedHint: 'Set on the server. It can be changed there only.',
  lockedBy: 'Set on the server by {source}. It can be changed there only.',
  forUsers: 'The default for everyone.',
  inherited: 'The default is {value}.',
  secretSet: '•••••••• (set)',
  secretSince: '•••••••• since {time}',
  secretNotSet: 'Not set',
  replace: 'Replace',
  unchanged: 'Leave as it is',
  staleValue: 'The stored value is not allowed any more; the default applies.',
  noLongerAllowed: '{value} (no longer allowed)',
  lastChanged: 'Changed by {name}, {time}',
  lastChangedBySomebody: 'Changed {time}',
  restart: 'Takes effect after a restart.',
  documentation: 'Documentation',
  advanced: { one: '{count} advanced setting', other: '{count} advanced settings' },
  unsupported: 'This page cannot change settings of this type.',
  useDefault: 'Use the default',
  example: 'e.g. {value}',
  noValue: 'empty',
  on: 'On',
  off: 'Off',

  actionsOf: 'Actions for {name}',
  moreFor: 'More for {name}',
  resetOf: 'Reset {name}',
  clearOf: 'Clear {name}',
  undoOf: 'Undo the change to {name}',
  reset: 'Reset',
  clear: 'Clear',
  undo: 'Undo',
  history: 'History',
  copyLink: 'Copy link',
  linkCopied: 'Link copied.',
  copyKey: 'Copy key',
  keyCopied: 'Key copied.',
  show: 'Show',
  hide: 'Hide',
  formatJson: 'Format',
  goToLine: 'Go to line {line}',
  open: 'Open',
  picker: '{name}: picker',
  range: 'from {min} to {max}',
  rangeFrom: 'from {min} up',
  rangeTo: 'up to {max}',

  unsavedCount: { one: '{count} unsaved change', other: '{count} unsaved changes' },
  unsavedChanges: 'Unsaved changes',
  next: 'Next',
  review: 'Review',
  discard: 'Discard',
  discarded: { one: 'Discarded {count} change.', other: 'Discarded {count} changes.' },
  save: 'Save',
  saving: 'Saving…',
  saved: { one: 'Saved {count} setting.', other: 'Saved {count} settings.' },
  resetDone: '{name} was reset.',
  undone: '{name} is as it was before.',
  changedMeanwhile: '{name} has changed meanwhile.',
  reviewTitle: { one: 'Review {count} change', other: 'Review {count} changes' },
  newSecret: 'replaced',
  cancel: 'Cancel',
  back: 'Back',
  close: 'Close',
  turnOn: 'Turn on',
  turnOff: 'Turn off',
  leaveOn: 'Leave it on',
  leaveOff: 'Leave it off',
  confirmTitle: 'Change {name}?',
  turnOnTitle: 'Turn on {name}?',
  turnOffTitle: 'Turn off {name}?',
  confirmClear: 'The stored secret is removed. Nobody can copy it back.',

  titleError: 'Error ({count}): ',
  theirs: 'Changed by {name}, {time}. From theirs to yours:',
  somebody: 'somebody',
  useTheirs: 'Use theirs',
  keepMine: 'Keep mine',
  decideFirst: 'Somebody else has changed this setting. Choose which value to keep.',
  readOnly: 'You can look at these settings. To change them, you need the permission “Settings.Update”.',
  systemReadOnly: 'System settings can be changed by administrators only.',
  forbidden:
    'You may no longer change these settings. Copy what you need from your changes, then discard them.',
  loadFailed: 'The settings could not be loaded.',
  unreachable: 'The server does not answer.',
  serverFailed: 'The server could not do this.',
  kept: 'Your changes are still here.',
  refused: 'This was refused: {detail}',
  requestId: 'Request {id}',
  tryAgain: 'Try again',
  dismiss: 'Dismiss',
  signedOut: 'Sign in again to save',
  signedOutHint: 'Your changes stay here, and saving continues by itself.',
  signIn: 'Sign in…',

  emptyRequired: 'Enter a value.',
  notANumber: 'Enter a number, like 42 or -2.5.',
  decimalComma: 'Enter a number with a point instead of a comma.',
  outOfRange: 'Enter a number {range}.',
  invalidJson: 'This is not JSON yet: look at line {line}, column {column}.',
  invalidDateTime: 'Enter a date and a time.',
  invalidColor: 'Enter a hex color like #3b82f6.',
  invalidUrl: 'Enter an absolute http or https URL, like https://example.com.',
  invalidEmail: 'Enter one email address, like name@example.com.',
  formatLike: 'Enter text in the same format as {example}.',
  formatUnknown: 'Enter text in the format that this setting expects. Its description may say which.',

  historyTitle: 'History of {name}',
  historyEmpty: 'Nobody has changed this setting.',
  restore: 'Restore',
  restored: '{name} has the older value again.',

  activity: 'Activity',
  activityHint: 'Every change to settings, newest first.',
  activityEmpty: 'Nobody has changed a setting.',
  person: 'Person',
  anyone: 'Anyone',
  group: 'Group',
  allGroups: 'All groups',
  time: 'Time',
  anyTime: 'Any time',
  lastDay: 'Last 24 hours',
  lastWeek: 'Last 7 days',
  lastMonth: 'Last 30 days',
  someoneChanged: '{who} changed {name}',
  someoneReset: '{who} reset {name}',
  someoneChangedMany: { one: '{who} changed {count} setting', other: '{who} changed {count} settings' },
  byImport: 'from a file',
  byRollback: 'back to an earlier value',
  now: 'Now',
  showOlder: 'Show older',

  from: 'from',
  to: 'to',
  removed: 'removed',
  added: 'added',
  equalLines: { one: '{count} equal line', other: '{count} equal lines' },
  defaultValue: 'default',
  secretChanged: 'changed',

  addItem: 'Add',
  itemOf: '{name}, item {index}',
  removeItem: 'Remove item {index}',
  moveUp: 'Move item {index} up',
  moveDown: 'Move item {index} down',
  editAsJson: 'Edit as JSON',
  editAsForm: 'Edit as form',
  formKeys: 'Arrow keys move between the fields, with Alt they move an item.',

  export: 'Export…',
  exportDone: {
    one: 'Exported {count} setting without secrets.',
    other: 'Exported {count} settings without secrets.',
  },
  import: 'Import…',
  importTitle: 'Import settings',
  importFile: 'Choose a file',
  importDrop: 'or drop it here.',
  importOther: 'Choose another one, or drop it here.',
  importMerge: 'Keep what the file does not mention',
  importReplace: 'Reset what the file does not mention',
  importApply: 'Import',
  importCount: 'Import {writes}',
  importAndReset: 'Import {writes}, reset {resets}',
  importNothing: 'The file changes nothing.',
  importUnreadable: 'This file is not an export of settings.',
  importChanges: { one: '{count} change', other: '{count} changes' },
  importResets: { one: '{count} goes back to its default', other: '{count} go back to their default' },
  importSkipped: { one: '{count} skipped', other: '{count} skipped' },
  importUnknown: 'No setting has this key.',
  importDone: 'The file was imported.',
} as const

export type Params = Readonly<Record<string, string | number>>

/** `'was {value}'`, `{ value: 25 }` → `was 25` */
export function format(text: string, params: Params = {}): string {
  return text.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(params[name] ?? placeholder))
}

/** The form for a number in a language, with `{count}` filled in. */
export function plural(forms: Plural, count: number, locale: string, params: Params = {}): string {
  return format(forms[new Intl.PluralRules(locale).select(count)] ?? forms.other, { ...params, count })
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
