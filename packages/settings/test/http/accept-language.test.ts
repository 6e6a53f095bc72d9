import fc from 'fast-check'
import { test } from 'tap'
import { acceptedLocales } from '#src/http/accept-language.js'

test('S7: no Accept-Language makes the parser throw or answer without bound', async () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom('de', 'de-AT', '*', ';q=0.5', ';q=', '-', 'x-'.repeat(40)),
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => acceptedLocales(parts.join(',')).length <= 10 * 18),
    { numRuns: 500 },
  )
})
