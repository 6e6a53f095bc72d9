/** Texts for route parameters with regular expressions. */
import { sampleTexts } from '#src/matching/sample-text.js'
import { test } from 'tap'

const found = [
  '^\\d+$',
  '\\d',
  '^(?:19|20)\\d{2}$',
  '^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
  '^[^/.]+$',
  '^(en|de|fr)$',
  '^(|de)$',
  '^(?<name>[A-Z]\\w*)\\.(png|jpe?g)$',
  '^v\\d+(?:\\.\\d+){0,2}$',
  '^[\\]\\w-]{2,5}?$',
  '^(?!admin$)[a-z]+$',
  '^.{3,}$',
  '^\\x41\\u0042$',
  '^[a-z]*$',
  '^\\bword\\b$',
  '^a{2,}b?$',
  '^a?$',
  '^\\$\\{x\\}$',
  '^(?<$name>[A-Z])(?<größe>\\d)$',
]

for (const expression of found) {
  test(`${expression} gets texts that it accepts`, async (t) => {
    const texts = sampleTexts(expression)
    t.ok(texts.length > 0)
    for (const text of texts) t.ok(text !== '' && new RegExp(expression).test(text), text)
  })
}

for (const expression of ['(?i)a', '^(?=b)a$', '^$', '^(a)\\1$', '^[^\\s\\S]$']) {
  test(`${expression} has none, or none that is found`, async (t) => {
    t.same(sampleTexts(expression), [])
  })
}

test('each alternative gets a text', async (t) => {
  t.same(sampleTexts('^(en|de|fr)-[AB]$'), ['en-A', 'de-A', 'fr-A'])
})
