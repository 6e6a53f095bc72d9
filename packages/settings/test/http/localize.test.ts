import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { test } from 'tap'
import {
  type DefinitionTexts,
  setting,
  SettingScope,
  type SettingsOptions,
  type Translate,
} from '@fastify-modular/settings'
import { Localizer } from '#src/http/localized-definitions.js'
import { as, createApp, definitions, logInto, rejection } from '../support/app.ts'

const { Application, User } = SettingScope
const style = setting.select('ui.style', {
  displayName: 'Style',
  description: 'How pages look',
  scope: User,
  group: 'Looks',
  options: [
    { value: 'calm', label: 'Calm', description: 'Few colours' },
    { value: 'wild', label: 'Wild' },
  ],
  default: 'calm',
})
const width = setting.number('ui.width', {
  displayName: 'Width',
  scope: Application,
  unit: 'pixels',
  confirm: 'Sure?',
  placeholder: 'wide',
})
const texts: Readonly<Record<string, Readonly<Record<string, DefinitionTexts>>>> = {
  de: {
    'ui.style': {
      displayName: 'Stil',
      options: { calm: { label: 'Ruhig', description: 'Wenige Farben' }, wild: { description: 'Bunt' } },
    },
    'ui.width': { unit: 'Bildpunkte', confirm: 'Sicher?', placeholder: 'breit', description: 'Wie breit' },
  },
  'de-AT': { 'ui.style': { displayName: 'Stü' } },
  'en-GB': { 'ui.style': { options: { calm: { description: 'Few colours, old chap' } } } },
}
/** Spelled as hosts may spell them. */
const locales = ['de', 'DE-at', 'en-GB', 'it']
const translate: Translate = ({ key }, locale) => texts[locale]?.[key]

async function createTranslated(t: Parameters<typeof createApp>[0], own: Translate = translate) {
  const app = await createApp(t, { definitions: [definitions, { style, width }], translate: own, locales })
  const get = async (path: string, language?: string, headers: Record<string, string> = {}) =>
    as(app, 'alice')('GET', path, undefined, { ...headers, ...(language && { 'accept-language': language }) })
  const nameOf = async (language?: string) => {
    const { json, headers } = await get('/definitions', language)
    const { displayName } = json.find(({ key }: { key: string }) => key === 'ui.style')
    return [displayName, headers['content-language']]
  }
  return { app, get, nameOf }
}

const wanted: readonly (readonly [string | undefined, string, string])[] = [
  [undefined, 'Style', 'en'],
  ['', 'Style', 'en'],
  ['*', 'Style', 'en'],
  ['de', 'Stil', 'de'],
  ['DE', 'Stil', 'de'],
  ['de-CH', 'Stil', 'de'],
  ['de-at', 'Stü', 'de-AT'],
  ['de-AT;q=0.1, de;q=0.9', 'Stil', 'de'],
  ['fr, de;q=0.5', 'Stil', 'de'],
  ['fr', 'Style', 'en'],
  ['en, de;q=0.5', 'Style', 'en'],
  ['en-US, de;q=0.5', 'Style', 'en'],
  ['de;q=0', 'Style', 'en'],
  ['de;q=2', 'Style', 'en'],
  ['de ; Q=0.3 , fr;q=0.2', 'Stil', 'de'],
  ['constructor, __proto__, de', 'Stil', 'de'],
]
for (const [header, name, locale] of wanted) {
  test(`S7: Accept-Language ${String(header)} is answered in ${locale}`, async (t) => {
    const { nameOf } = await createTranslated(t)
    t.same(await nameOf(header), [name, locale])
  })
}

test('words of the search and members of forms are translated too', async (t) => {
  const form = setting.json('ui.form', {
    displayName: 'Form',
    scope: Application,
    keywords: ['night', 'dark mode'],
    schema: Type.Object({ tips: Type.Boolean({ title: 'Tips', default: true }), plain: Type.String() }),
  })
  const app = await createApp(t, {
    definitions: [{ form }],
    locales: ['de'],
    translate: () => ({ keywords: ['Nacht'], properties: { tips: { title: 'Hinweise' } } }),
  })
  const read = async (language: string) =>
    (await as(app, 'alice')('GET', '/definitions', undefined, { 'accept-language': language })).json[0]
  const german = await read('de')
  t.same(german.keywords, ['Nacht', 'night', 'dark mode'])
  t.same(german.schema.properties.tips, { type: 'boolean', title: 'Hinweise', default: true })
  t.equal(german.schema.properties.plain.type, 'string')
  t.same((await read('en')).keywords, ['night', 'dark mode'])
})

test('members of a list, and what members and items offer, are translated too', async (t) => {
  const day = Type.Union([Type.Literal('sun', { title: 'Sunday' }), Type.Literal('mon')], { title: 'Day' })
  const rooms = { type: 'object', properties: { hall: { type: 'string' } } }
  const opening = setting.json('ui.opening', {
    displayName: 'Opening',
    scope: Application,
    schema: { type: 'array', items: { type: 'object', properties: { day, rooms, never: false } } },
  })
  const days = setting.json('ui.days', { displayName: 'Days', scope: Application, schema: Type.Array(day) })
  const words: Readonly<Record<string, DefinitionTexts>> = {
    'ui.opening': {
      properties: {
        day: { title: 'Tag', options: { sun: { label: 'Sonntag' } } },
        rooms: { properties: { hall: { title: 'Saal' } } },
      },
    },
    'ui.days': { options: { mon: { label: 'Montag' } } },
  }
  const app = await createApp(t, {
    definitions: [{ opening, days }],
    locales: ['de'],
    translate: ({ key }) => words[key],
  })
  const german = await as(app, 'alice')('GET', '/definitions', undefined, { 'accept-language': 'de' })
  const [objects, listed] = german.json
  t.match(objects.schema.items.properties.day, {
    title: 'Tag',
    anyOf: [{ const: 'sun', title: 'Sonntag' }, { const: 'mon' }],
  })
  t.equal(objects.schema.items.properties.rooms.properties.hall.title, 'Saal', 'a form in a form')
  t.equal(objects.schema.items.properties.never, false)
  t.match(listed.schema.items.anyOf, [
    { const: 'sun', title: 'Sunday' },
    { const: 'mon', title: 'Montag' },
  ])
  const english = (await as(app, 'alice')('GET', '/definitions')).json[0]
  t.equal(english.schema.items.properties.day.title, 'Day')
})

test('S7: what has no translation stays English, and what requests and writes name is never translated', async (t) => {
  const { get } = await createTranslated(t)
  const all = (await get('/definitions', 'de')).json as readonly { key: string }[]
  t.match(
    all.find(({ key }) => key === 'ui.style'),
    {
      key: 'ui.style',
      displayName: 'Stil',
      description: 'How pages look',
      group: 'Looks',
      allowedValues: ['calm', 'wild'],
      options: [
        { value: 'calm', label: 'Ruhig', description: 'Wenige Farben' },
        { value: 'wild', label: 'Wild', description: null },
      ],
    },
  )
  t.match(
    all.find(({ key }) => key === 'ui.width'),
    { displayName: 'Width', unit: 'Bildpunkte', confirm: 'Sicher?', placeholder: 'breit', description: null },
  )
  t.match(
    all.find(({ key }) => key === 'app.title'),
    { displayName: 'Title' },
  )
  t.equal((await get('?group=Looks', 'de')).json.length, 1)
})

test('S7: each language has its own tag, and Vary names what it depends on', async (t) => {
  const { get } = await createTranslated(t)
  for (const path of ['/definitions']) {
    const [german, english] = [await get(path, 'de'), await get(path, 'en')]
    t.match(german.headers.vary, /Accept-Language/, path)
    t.match(english.headers.vary, /Accept-Language/, path)
    t.not(german.headers.etag, english.headers.etag, path)
    const tag = { 'if-none-match': String(german.headers.etag) }
    t.equal((await get(path, 'de', tag)).status, 304, path)
    t.equal((await get(path, 'en', tag)).status, 200, path)
  }
  const list = await get('', 'de')
  t.equal(list.headers.vary, 'Cookie, Authorization, Accept-Encoding', 'values have no language')
})

test('S7: without the option nothing depends on the language', async (t) => {
  const app = await createApp(t)
  const { headers } = await as(app, 'alice')('GET', '/definitions', undefined, { 'accept-language': 'de' })
  t.equal(headers.vary, 'Accept-Encoding')
  t.equal(headers['content-language'], undefined)
})

test('S7: texts are asked for once for each definition and language', async (t) => {
  const asked: string[] = []
  const { nameOf } = await createTranslated(t, (definition, locale) => {
    asked.push(`${locale} ${definition.key}`)
    return translate(definition, locale)
  })
  await nameOf('de')
  t.equal(new Set(asked).size, asked.length)
  const before = asked.length
  await nameOf('de')
  await nameOf('de-DE, de')
  t.equal(asked.filter((call) => call.startsWith('de ')).length, before)
})

test('decision 64: no Accept-Language makes translate run for another language than the host named, or twice', async (t) => {
  const calls: string[] = []
  const { nameOf, app } = await createTranslated(t, (definition, locale) => {
    calls.push(`${locale} ${definition.key}`)
    return translate(definition, locale)
  })
  const made = Array.from(
    { length: 300 },
    (_, index) => `qa${String.fromCharCode(97 + (index % 20))}-x${index}`,
  )
  const hostile = [
    ...made,
    made.slice(0, 10).join(','),
    'de-1901-1996-x-a,de-u-co-phonebk',
    'de-AT-x-private',
    'constructor,__proto__,toString',
    '*,en-*,de-*',
    'x'.repeat(8000),
    ','.repeat(5000),
    `${'de-'.repeat(11)}de`,
    'fr,it,es,pt,nl,pl,sv,da,fi,de',
  ]
  for (const header of [...hostile, ...hostile]) await nameOf(header)
  t.same(await nameOf('de'), ['Stil', 'de'])
  t.same(await nameOf('en'), ['Style', 'en'])
  t.equal(new Set(calls).size, calls.length, 'never twice')
  const asked = new Set(calls.map((call) => call.split(' ', 1).join()))
  t.same([...asked].toSorted(), ['de', 'de-AT', 'it'])
  t.ok(calls.length <= app.settings.definitions.getDefinitions().length * locales.length)
})

test('decision 64: a language of the host without any text is looked at once, and English', async (t) => {
  let calls = 0
  const { nameOf } = await createTranslated(t, (definition, locale) => {
    if (locale === 'it') calls++
    return translate(definition, locale)
  })
  t.same(await nameOf('it'), ['Style', 'en'])
  const before = calls
  t.ok(before > 0)
  t.same(await nameOf('it, de'), ['Stil', 'de'])
  t.equal(calls, before)
})

test('decision 64: translate without locales, and locales without translate, stop the boot with what to add', async (t) => {
  const refusals: readonly (readonly [SettingsOptions, RegExp])[] = [
    [{ translate }, /translate.*locales: \["de", "fr"\]/],
    [{ locales: ['de'] }, /locales.*translate/],
    [{ translate, locales: [] }, /locales/],
    [{ translate, locales: ['de_AT'] }, /locales/],
    [{ translate, locales: [''] }, /locales/],
    // @ts-expect-error -- a JavaScript host
    [{ translate, locales: 'de' }, /locales/],
    // @ts-expect-error -- a JavaScript host
    [{ translate, locales: [5] }, /locales/],
  ]
  for (const [options, message] of refusals)
    t.match(await rejection(createApp(t, options)), {
      error: { code: 'FMOD_CORE_INVALID_OPTION', message },
    })
})

test('S7: a translation that throws or is not a string is English, logged once', async (t) => {
  const lines: string[] = []
  const app = await createApp(
    t,
    {
      definitions: [style],
      locales: ['de', 'fr'],
      // @ts-expect-error -- a JavaScript host
      translate: (_definition, locale) => {
        if (locale === 'de') throw new Error('no catalogue')
        return { displayName: '', description: 5 }
      },
    },
    logInto(lines),
  )
  for (const language of ['de', 'fr']) {
    const { json } = await as(app, 'alice')('GET', '/definitions', undefined, { 'accept-language': language })
    t.match(json, [{ displayName: 'Style', description: 'How pages look' }])
  }
  t.equal(lines.filter((line) => line.includes('translate failed')).length, 1)
})

test('a request after the first one looks through no definitions, however many there are', async (t) => {
  const app = await createApp(t, { definitions: [style, width] })
  let lists = 0
  const localizer = new Localizer({
    definitions() {
      lists++
      return app.settings.definitions.getDefinitions()
    },
    probeOf: () => null,
    log: app.log,
  })
  const caller = { id: 'alice', permissions: ['Settings.Update'] }
  const request = { headers: {} } as FastifyRequest // all that it looks at
  const first = localizer.localize(caller, request)
  const known = lists
  t.equal(localizer.localize(caller, request), first)
  t.equal(lists, known)
})
