/** Texts for route parameters with regular expressions. */
import { sampleText } from '#src/matching/sample-text.js'
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
]

for (const expression of found) {
  test(`${expression} gets a text that it accepts`, async (t) => {
    t.match(sampleText(expression), new RegExp(expression))
    t.not(sampleText(expression), '')
  })
}

for (const expression of ['^(?=b)a$', '^$', '^(a)\\1$', '^[^\\s\\S]$']) {
  test(`${expression} has none, or none that is found`, async (t) => {
    t.equal(sampleText(expression), null)
  })
}
