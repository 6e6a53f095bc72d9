import fc from 'fast-check'
import { test } from 'tap'
import { acceptedLocales } from '@fastify-modular/core/internal'

test('locales come in the order of their weights, each before its parents', (t) => {
  const table: Readonly<Record<string, readonly string[]>> = {
    'de-AT;q=0.5, fr': ['fr', 'de-AT', 'de'],
    'zh-Hant-TW': ['zh-Hant-TW', 'zh-Hant', 'zh'],
    'DE-at , de ; q=0.9': ['de-AT', 'de'],
    'de;Q=0.1;x=y, fr;x=y;q=0.2': ['fr', 'de'],
    'de;q=0, fr;q=2, it;q=, *': [],
    '__proto__, ;;q=,,=': [],
    '': [],
  }
  for (const [header, locales] of Object.entries(table)) t.same(acceptedLocales(header), locales, header)
  t.same(acceptedLocales(undefined), [])
  t.end()
})

test('a long Accept-Language is read in linear time: a quadratic reader would not end', (t) => {
  const spaces = ' '.repeat(2_000_000)
  for (const header of [`de${spaces};q=0.5`, `de;${spaces}q=0.5`, `de;${';'.repeat(2_000_000)}q=0.5`])
    t.same(acceptedLocales(`fr, ${header}`)[0], 'fr')
  t.same(acceptedLocales(`${'xx,'.repeat(1_000_000)}de`), ['xx'], 'what follows ten ranges is left out')
  t.end()
})

test('no Accept-Language makes the parser throw or return more than a bounded list', async () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom('de', 'de-AT', '*', ';q=0.5', ';q=', '-', 'x-'.repeat(40)),
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => acceptedLocales(parts.join(',')).length <= 10 * 18),
    { numRuns: 500 },
  )
})
