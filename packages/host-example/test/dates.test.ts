/** Dates as pages say them. */
import { test } from 'tap'
import { ago, fully, until } from '#src/pages/dates.js'

const place = { language: 'en', timeZone: 'UTC', preferred: '' } as const
const now = Date.UTC(2026, 10, 28, 9)
const hour = 60 * 60 * 1000
const after = (ms: number): string => new Date(now + ms).toISOString()

test('F12: how long it takes is said as the settings pages say it', (t) => {
  const said: readonly [number, string | null][] = [
    [-1, null],
    [20 * 60_000, 'in 20 minutes'],
    [3 * hour, 'in 3 hours'],
    [19.4 * 24 * hour, 'in 19 days'],
    [19.6 * 24 * hour, 'in 20 days'],
    [89 * 24 * hour, 'in 89 days'],
    [121 * 24 * hour, 'in 4 months'],
  ]
  for (const [left, text] of said) t.equal(until(after(left), place, now), text)
  t.end()
})

test('F12: dates are written as the browser prefers, where that is of the language of the pages', (t) => {
  const launch = '2026-12-15T09:00:00Z'
  t.match(fully(launch, place), /December 15, 2026 at 9:00\sAM/)
  t.match(fully(launch, { ...place, preferred: 'en-GB' }), /15 December 2026 at 09:00/)
  t.equal(fully(launch, { ...place, preferred: 'de-AT' }), fully(launch, place))
  t.match(fully(launch, { ...place, language: 'de', preferred: 'en-GB' }), /15\. Dezember 2026/)
  t.match(ago(after(-48 * hour), { ...place, preferred: 'en-GB' }, now), /26 Nov/)
  t.end()
})
