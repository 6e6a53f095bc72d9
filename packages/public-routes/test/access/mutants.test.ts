/** Mistakes in the access of an application: the boot or `expectAccess` notices each; `npm run prove:access` tries 500. */
import { test } from 'tap'
import { judgeReview, reviewMutants } from '../support/review-mutants.ts'
import { expectedEntries, judge, mistakes, mutants, synthetic } from '../support/access-mutants.ts'

test('60 mutants of 200 routes: each is refused at boot or differs from the file; the original does not', async (t) => {
  const expected = await expectedEntries()
  t.match(await judge(expected), { byBoot: false, byTable: false, byRequests: false })
  const kinds = new Set<string>()
  for (const mutant of mutants(synthetic(), 60, 1)) {
    const { name, byBoot, byTable } = await judge(expected, mutant)
    kinds.add(name.split(':', 1)[0] ?? '')
    t.ok(byBoot || byTable, name)
  }
  t.same(kinds, new Set(Object.keys(mistakes)))
})

for (const mutant of reviewMutants) {
  test(`${mutant.name}: noticed by ${mutant.noticedBy}`, async (t) => {
    t.same(await judgeReview(mutant), { noticed: true, falseAlarm: false })
  })
}
