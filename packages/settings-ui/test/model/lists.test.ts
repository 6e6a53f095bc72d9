/** Search, order and texts. */
import type { SettingDefinitionDto, SettingValueDto } from '@fastify-modular/settings/client'
import { test } from 'tap'
import { defaultMessages } from '@fastify-modular/settings-ui/react'
import { format, plural } from '#src/react/messages.js'
import { createMatcher, groupDefinitions } from '#src/react/model/listing.js'
import { relativePath } from '#src/document.js'
import { createHost } from '../support/host.js'

/** Definitions and values as the API answers them. */
async function fromApi(t: { teardown(close: () => unknown): unknown }) {
  const app = await createHost(t)
  await app.settings.setSetting('app.style', 'dense', 1)
  const read = async (path: string) =>
    (await app.inject({ url: `/api/settings${path}`, headers: { cookie: 'user=ada' } })).json()
  const definitions: SettingDefinitionDto[] = await read('/definitions')
  const values: SettingValueDto[] = await read('')
  return { definitions, valueOf: new Map(values.map((value) => [value.key, value])) }
}

test('words match key, name, help, group and options, without case and accents; tokens match states and types', async (t) => {
  const { definitions, valueOf } = await fromApi(t)
  const search = (text: string, onlyModified = false) => {
    const matches = createMatcher({ text, onlyModified })
    return definitions.flatMap((definition) => {
      const value = valueOf.get(definition.key)
      return value && matches(definition, value) ? [definition.key] : []
    })
  }
  t.same(search('MAIL.po'), ['mail.port'])
  t.same(search('preis nothing'), ['mail.host'])
  t.same(search('PRÉIS'), ['mail.host'])
  t.same(search('playful'), ['app.style'])
  t.same(search('contact'), ['contact.website', 'contact.support'])
  t.same(search('@modified'), ['app.style'])
  t.same(search('', true), ['app.style'])
  t.same(search('@locked'), ['app.site'])
  t.same(search('@SENSITIVE'), ['app.api_token', 'mail.password'])
  t.same(search('@type:Json'), ['app.features'])
  t.same(search('@type:nothing'), [])
  t.equal(search('  ').length, definitions.length)
  t.same(search('.* [('), [], 'no regular expression')
  t.same(search('constructor'), [], 'a word is no token because objects have it')
})

test('groups come as modules declared them, settings without one first; within a group by order, then name', async (t) => {
  const { definitions } = await fromApi(t)
  const groups = groupDefinitions(definitions, 'General', 'en')
  t.same(
    groups.map(({ name }) => name),
    ['General', 'Appearance', 'Contact', 'Advanced', 'Tables', 'Mail'],
  )
  t.same(
    groups[0]?.definitions.map(({ displayName }) => displayName),
    ['Maintenance mode', 'Open registration', 'Title', 'Licence expires'],
  )
  const [first] = definitions
  if (!first) throw new Error('no definitions')
  const slugs = groupDefinitions(
    [
      { ...first, groupName: 'A & B' },
      { ...first, groupName: 'A + B' },
    ],
    'General',
    'en',
  ).map(({ slug }) => slug)
  t.same(slugs, ['a-b', 'a-b-2'])
})

test('texts are filled in, by plural category; unknown placeholders stay', async (t) => {
  t.equal(format('{a} and {b}', { a: 1 }), '1 and {b}')
  t.equal(format('{a}', { a: '{b}', b: 2 }), '{b}', 'values are not filled in again')
  t.equal(plural(defaultMessages.unsavedCount, 1, 'en'), '1 unsaved change')
  t.equal(plural({ few: '{count} few', other: '{count} other' }, 3, 'pl'), '3 few')
  t.equal(plural({ other: '{count} other' }, 1, 'en'), '1 other')
})

test('addresses as seen from a page', async (t) => {
  for (const [from, to, wanted] of [
    ['/settings/manage', '/api/settings', '../api/settings'],
    ['/settings/manage/', '/settings/assets', '../assets'],
    ['/settings', '/settings/manage', './settings/manage'],
    ['/settings/me', '/', '../'],
    ['/settings', '/', './'],
    ['/a/b/c', '/a/b/', './'],
  ] as const) {
    t.equal(relativePath(from, to), wanted, `${from} → ${to}`)
  }
})
