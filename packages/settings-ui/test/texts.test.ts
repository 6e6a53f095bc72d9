/** The languages of the pages: complete, and chosen by request. */
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'tap'
import { languageOf, preferredLocale } from '#src/locale.js'
import { languages, textsOf } from '#src/texts/texts.js'
import { createHost } from './support/host.js'

const english = textsOf('en')

type Text = string | Readonly<Record<string, string>>

const entriesOf = (texts: object): [string, Text][] => Object.entries(texts)
const placeholders = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted()

for (const [language, texts] of Object.entries(languages)) {
  test(`${language} says everything, with the placeholders of English`, (t) => {
    t.same(Object.keys(texts).toSorted(), Object.keys(english).toSorted())
    const rules = new Intl.PluralRules(language)
    const categories = [...new Set(Array.from({ length: 201 }, (_, count) => rules.select(count)))].toSorted()
    const originals = new Map(entriesOf(english))
    for (const [name, text] of entriesOf(texts)) {
      const original = originals.get(name) ?? ''
      t.equal(typeof text, typeof original, name)
      if (typeof text === 'string' || typeof original === 'string') {
        t.same(placeholders(String(text)), placeholders(String(original)), name)
        continue
      }
      t.same(Object.keys(text).toSorted(), categories, `${name}: the plural categories of ${language}`)
      for (const [category, form] of Object.entries(text)) {
        // Words such as "both" say the number themselves.
        const isSpelled = ['zero', 'one', 'two'].includes(category) && !form.includes('{count}')
        const wanted = placeholders(original['other'] ?? '')
        t.same(placeholders(form), isSpelled ? wanted.filter((each) => each !== '{count}') : wanted, name)
      }
    }
    t.end()
  })
}

test('every text has a place, and every class of the style sheet an element', async (t) => {
  const folder = new URL('../src/', import.meta.url)
  const names = (await readdir(folder, { recursive: true })).filter((name) => !name.startsWith('texts'))
  const read = async (ending: RegExp) => {
    const files = names.filter((name) => ending.test(name))
    const sources = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')))
    return sources.join('\n')
  }
  const [code, css] = await Promise.all([read(/\.tsx?$/), read(/\.css$/)])
  const isUsed = (word: string) => new RegExp(String.raw`(?<![\w-])${word}(?![\w-])`).test(code)
  t.same(
    Object.keys(english).filter((name) => !isUsed(name)),
    [],
  )
  // The kinds of lines in a diff are part of their classes.
  const classes = new Set([...css.matchAll(/\.((?:fm|is|are)-[\w-]+)/g)].map(([, name]) => name ?? ''))
  t.same(
    [...classes].filter((name) => !isUsed(name) && !['is-added', 'is-removed', 'is-gap'].includes(name)),
    [],
  )
})

test('the browser chooses among the languages that ship, by its own preference', (t) => {
  const table: Readonly<Record<string, string | undefined>> = {
    'de-AT,de;q=0.9,en;q=0.8': 'de-AT',
    'sv, en-GB;q=0.4, fr-CA;q=0.5': 'fr-CA',
    'pt-BR': 'pt-BR',
    'zh-CN,zh;q=0.9': 'zh-CN',
    'de;q=0, en': 'en',
    'sv-SE,sv': undefined,
    '*': undefined,
    'constructor, __proto__': undefined,
    ';;q=,,=': undefined,
    '': undefined,
  }
  for (const [header, wanted] of Object.entries(table)) t.equal(preferredLocale(header), wanted, header)
  t.equal(preferredLocale(undefined), undefined)
  t.equal(textsOf(languageOf('de-CH')), languages['de'])
  t.equal(textsOf('sv'), english)
  t.end()
})

test('a page is in the language of its request, its texts in a file that browsers keep', async (t) => {
  const app = await createHost(t)
  const visit = async (language: string) => {
    const headers = { cookie: 'user=ada', accept: 'text/html', 'accept-language': language }
    return (await app.inject({ url: '/settings/manage', headers })).payload
  }
  const german = await visit('de-AT, en;q=0.5')
  t.match(german, '<html lang="de-AT" dir="ltr" data-theme="auto">')
  t.match(german, '<title>Einstellungen · Test host</title>')
  t.match(await visit('ar'), '<html lang="ar" dir="rtl" data-theme="auto">')
  t.match(await visit('sv'), '<html lang="en" dir="ltr" data-theme="auto">')
  const [, name] = /href="\.\/(assets\/de\.[\w-]{12}\.json)"/.exec(german) ?? []
  const texts = await app.inject({ url: `/settings/${name}`, headers: { 'accept-encoding': 'br' } })
  t.match(texts.headers, {
    'content-encoding': 'br',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'application/json; charset=utf-8',
  })
  t.comment(`${texts.rawPayload.length} bytes in brotli`)
  t.match(await visit('en'), /href="\.\/assets\/en\.[\w-]{12}\.json"/, 'English ones, too')
})
