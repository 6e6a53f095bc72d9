/** Windows and `kill -9`, on both databases. `npm run prove:windows` runs 300 of them. */
import t, { test } from 'tap'
import { randomFrom } from '../support/random.ts'
import { sqlEngines } from '../support/sql-engines.ts'
import { kinds } from './instance.ts'
import { runWindows } from './kill.ts'

t.setTimeout(3600_000)

const wanted = Number(process.env['WINDOWS'] ?? kinds.length)
/** At most a hundred are open at once. */
const copies = Math.min(8, Math.ceil(wanted / kinds.length))
const runs = Math.ceil(wanted / (copies * kinds.length))

for (const [name, makeDatabase] of Object.entries(sqlEngines))
  for (let run = 1; run <= runs; run++)
    test(`${name}, ${run}: each window is kept, put back or conflicted, whatever was killed`, async (t) => {
      const { place, store } = await makeDatabase(t)
      const { states, delays } = await runWindows({ database: place, store, copies, random: randomFrom(run) })
      const sorted = delays.toSorted((a, b) => a - b)
      const [median, last] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
      t.comment({ ...states, 'ms from due until put back, median and most': [median, last] })
      t.equal(
        Object.values(states).reduce((sum, count) => sum + count, 0),
        copies * kinds.length,
      )
    })
