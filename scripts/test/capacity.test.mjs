import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { capacityTable } from '../../bench/capacity.mjs'

test('the guide about scaling has the table that bench/capacity.mjs computes', async (t) => {
  const guide = readFileSync(new URL('../../docs/guides/scaling.md', import.meta.url), 'utf8')
  t.ok(
    guide.includes(capacityTable()),
    'put the output of node bench/capacity.mjs into docs/guides/scaling.md',
  )
})
