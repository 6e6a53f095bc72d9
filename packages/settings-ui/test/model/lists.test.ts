/** Search, order and texts. */
import type { SettingDefinitionDto } from '@fastify-modular/settings/client'
import { test } from 'tap'
import { textsOf } from '#src/texts/texts.js'
import { format, plural } from '#src/texts/messages.js'
import { groupDefinitions } from '#src/browser/model/listing.js'
import { createSearch } from '#src/browser/model/search.js'
import type { SettingValue } from '#src/browser/model/setting.js'
import { relativePath } from '#src/document.js'
import { createHost } from '../support/host.js'

const english = { messages: textsOf('en'), locale: 'en' }

/** Definitions as the API answers them. */
async function fromApi(t: { teardown(close: () => unknown): unknown }): Promise<SettingDefinitionDto[]> {
  const app = await createHost(t)
  return (await app.inject({ url: '/api/settings/definitions', headers: { cookie: 'user=ada' } })).json()
}

test('the words of a query are looked for in all that a definition says', async (t) => {
  const definitions = await fromApi(t)
  const find = createSearch(definitions, textsOf('en'))
  const search = (text: string) => find({ text, isExact: false }).hits.map(({ definition }) => definition.key)
  t.same(search('MAIL.po')[0], 'mail.port')
  t.same(search('preis'), ['mail.host'])
  t.same(search('PRÉIS'), ['mail.host'])
  t.same(search('playful'), ['app.style'])
  t.same(search('contact'), ['contact.website', 'contact.support'])
})

test('the name counts most, then keywords, options, the group, the description; a hidden key comes last', async (t) => {
  const definitions = await fromApi(t)
  const [some] = definitions
  if (!some) throw new Error('no definition')
  const plain = { ...some, key: 'x.y', displayName: 'Thing', description: null, group: null }
  const ranked: readonly SettingDefinitionDto[] = [
    { ...plain, displayName: 'Fancy hat' },
    { ...plain, keywords: ['hat'] },
    { ...plain, options: [{ value: 'h', label: 'Hat', description: null }] },
    { ...plain, group: 'Hat' },
    { ...plain, description: 'It wears a hat.' },
    { ...plain, key: 'x.hat' },
  ]
  const { hits } = createSearch(ranked.toReversed(), textsOf('en'))({ text: 'hat', isExact: false })
  t.same(
    hits.map(({ definition }) => ranked.indexOf(definition)),
    [0, 1, 2, 3, 4, 5],
  )
  t.same(
    hits.map(({ reason }) => reason),
    [undefined, 'Also called hat', 'Has the option Hat', undefined, undefined, 'Key x.hat'],
    'what no row shows is explained',
  )
})

test('one typo in a word of five letters or more is forgiven, and what was entered stays on offer', async (t) => {
  const definitions = await fromApi(t)
  const find = createSearch(definitions, textsOf('en'))
  const first = (text: string, isExact = false) => find({ text, isExact }).hits[0]?.definition.key
  for (const typo of ['maintenence', 'maintennce', 'mainteenance', 'maintenacne']) {
    t.equal(first(typo), 'system.maintenance', typo)
    t.equal(find({ text: typo, isExact: false }).corrected, 'maintenance', typo)
  }
  t.equal(first('maintenecne'), undefined, 'two typos are another word')
  t.equal(first('prot'), undefined, 'short words have too many neighbours')
  t.equal(first('smtp pasword'), 'mail.password')
  t.equal(first('color'), 'app.accent')
  t.equal(first('licenseexpires'), undefined)
  t.equal(first('licenceexpires'), 'app.expires_at', 'without the space between')
  t.equal(first('maintenence', true), undefined, 'searched for as it is')
  t.equal(find({ text: 'maintenence', isExact: true }).corrected, 'maintenance', 'and still suggested')
  t.equal(find({ text: 'smtp', isExact: false }).corrected, undefined)
})

test('keywords may have any characters: what is entered is text, never a pattern', async (t) => {
  const definitions = await fromApi(t)
  const [first] = definitions
  if (!first) throw new Error('no definitions')
  for (const keyword of [
    'C++ (beta) [x]* $& {name}',
    'تفضيلات',
    'צבע רקע',
    '背景色',
    'İstanbul ŞİŞLİ',
    'm'.repeat(50),
  ]) {
    const find = createSearch([{ ...first, keywords: [keyword] }], textsOf('en'))
    const { hits } = find({ text: keyword, isExact: false })
    t.equal(hits[0]?.reason, `Also called ${keyword}`, keyword)
  }
  const { hits } = createSearch(definitions, textsOf('en'))({ text: '.*', isExact: false })
  t.same(hits, [], 'a pattern without a word finds nothing')
})

test('half of the words is not enough, unless they are all of a name', async (t) => {
  const definitions = await fromApi(t)
  const find = createSearch(definitions, textsOf('en'))
  const keys = (text: string) => find({ text, isExact: false }).hits.map(({ definition }) => definition.key)
  t.same(keys('smtp password'), ['mail.password'])
  t.same(keys('title of new pages'), ['app.title'])
  t.same(keys('websites'), ['contact.website'], 'the ending of a word may differ')
  t.same(keys('date format'), [])
})

test('F13: a secret is a key or a password too, "the" says nothing, one keyword of two words is not enough', async (t) => {
  const [first] = await fromApi(t)
  if (!first) throw new Error('no definitions')
  const plain = { ...first, description: null, group: null, keywords: [], options: null }
  const definitions: readonly SettingDefinitionDto[] = [
    { ...plain, key: 'a.secret', displayName: 'API secret', sensitive: true },
    { ...plain, key: 'a.other', displayName: 'Other secret', sensitive: true },
    { ...plain, key: 'a.closed', displayName: 'Maintenance', keywords: ['close the site'] },
    { ...plain, key: 'a.home', displayName: 'Home page of the site' },
    { ...plain, key: 'a.sign_up', displayName: 'Registration', keywords: ['account'] },
  ]
  const find = createSearch(definitions, textsOf('en'))
  const keys = (text: string) => find({ text, isExact: false }).hits.map(({ definition }) => definition.key)
  t.same(keys('api key'), ['a.secret'])
  t.same(keys('close the site')[0], 'a.closed')
  t.notOk(keys('close the site').includes('a.home'))
  t.same(keys('delete account'), [])
  t.same(keys('account'), ['a.sign_up'])
  t.equal(find({ text: 'registation e-mail', isExact: false }).corrected, 'registration e-mail')
})

test('F13: values are searched, those of secrets and switches are not, and say why they were found', async (t) => {
  const app = await createHost(t)
  await app.settings.set('app.title', 'Acme Notes')
  await app.settings.set('mail.password', 'hushhush')
  const get = async (url: string) => (await app.inject({ url, headers: { cookie: 'user=ada' } })).json()
  const find = createSearch(await get('/api/settings/definitions'), textsOf('en'))
  const list = (await get('/api/settings')) as SettingValue[]
  const values = new Map(list.map((value) => [value.key, value]))
  const hits = (text: string) =>
    find({ text, isExact: false, values }).hits.map(({ definition, reason }) => [definition.key, reason])
  t.same(hits('Acme'), [['app.title', 'Value Acme Notes']])
  t.same(hits('587'), [['mail.port', 'Value 587']])
  t.same(hits('hushhush'), [])
  t.same(hits('true'), [])
})

test('where nothing is found the closest settings are named', async (t) => {
  const definitions = await fromApi(t)
  const find = createSearch(definitions, textsOf('en'))
  const nearest = (text: string) => find({ text, isExact: false }).nearest.map(({ key }) => key)
  t.equal(nearest('licence format')[0], 'app.expires_at')
  t.equal(nearest('registrar')[0], 'app.sign_up')
  t.same(nearest('zzz'), [])
  t.same(nearest('printer paper'), [], 'a few letters in common are no likeness')
  t.same(nearest('smtp'), [], 'what is found needs no help')
})

test('groups come as modules declared them, settings without one first; within a group by order, then name', async (t) => {
  const definitions = await fromApi(t)
  const groups = groupDefinitions(definitions, english)
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
      { ...first, group: 'A & B' },
      { ...first, group: 'A + B' },
    ],
    english,
  ).map(({ slug }) => slug)
  t.same(slugs, ['a-b', 'a-b-2'])
})

test('texts are filled in, by plural category; unknown placeholders stay', async (t) => {
  t.equal(format('{a} and {b}', { a: 1 }), '1 and {b}')
  t.equal(format('{a}', { a: '{b}', b: 2 }), '{b}', 'values are not filled in again')
  t.equal(plural(textsOf('en').unsavedCount, 1, 'en'), '1 unsaved change')
  t.equal(plural({ few: '{count} few', other: '{count} other' }, 3, 'pl'), '3 few')
  t.equal(plural({ other: '{count} other' }, 1, 'en'), '1 other')
})

test('addresses as seen from a page', async (t) => {
  for (const [from, to, wanted] of [
    ['/settings/manage', '/api/settings', '../api/settings'],
    ['/settings/manage/', '/settings/assets', '../assets'],
    ['/settings', '/settings/manage', './settings/manage'],
    ['/settings/preferences', '/', '../'],
    ['/settings', '/', './'],
    ['/a/b/c', '/a/b/', './'],
    ['/settings/preferences', '/notes/?of=a', '../notes/?of=a'],
    ['/settings/preferences', '/go?to=https://example.com/../a', '../go?to=https://example.com/../a'],
    ['/settings/preferences', '/?q=/#/a//b/', '../?q=/#/a//b/'],
    ['/settings/preferences', '/settings/#a', './#a'],
    ['/settings/preferences', '/go/https://example.com', '../go/https://example.com'],
    ['/settings/preferences', '/settings//a', './/a'],
  ] as const) {
    t.equal(relativePath(from, to), wanted, `${from} → ${to}`)
  }
})
