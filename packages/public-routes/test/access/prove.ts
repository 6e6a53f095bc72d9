/** `npm run prove:access`: 500 mutants, the rules that open something, and 100 unmutated boots. Prints what noticed them; fails when one was missed. */
import { judgeReview, reviewMutants } from '../support/review-mutants.ts'
import { judgeOpening, openingMutants } from '../support/opening-mutants.ts'
import { expectedEntries, judge, type Verdict, mutants, synthetic } from '../support/access-mutants.ts'

const expected = await expectedEntries()
const verdicts: Verdict[] = []
for (const mutant of mutants(synthetic(), 500, Number(process.argv[2] ?? 2026))) {
  verdicts.push(await judge(expected, mutant))
}
const missed = verdicts
  .filter(({ byBoot, byTable, byRequests }) => !byBoot && !byTable && !byRequests)
  .map(({ name }) => name)
let falseAlarms = 0
for (const mutant of openingMutants) {
  const { original, changed } = await judgeOpening(mutant)
  if (changed.length === 0) missed.push(mutant.name)
  falseAlarms += original.length
}
for (const mutant of reviewMutants) {
  const { noticed, falseAlarm } = await judgeReview(mutant)
  if (!noticed) missed.push(mutant.name)
  if (falseAlarm) falseAlarms++
}
for (let boot = 0; boot < 100; boot++) {
  const { byBoot, byTable, byRequests } = await judge(expected)
  if (byBoot || byTable || byRequests) falseAlarms++
}
const { user, system } = process.cpuUsage()
const booted = verdicts.filter(({ byBoot }) => !byBoot)
const unseen = booted.filter(({ byRequests }) => !byRequests).map(({ name }) => name.split(':', 1)[0])
console.table({
  mutants: verdicts.length + openingMutants.length + reviewMutants.length,
  'noticed by the boot': verdicts.length - booted.length,
  'noticed by the table': booted.filter(({ byTable }) => byTable).length,
  'noticed by requests alone': booted.filter(({ byRequests }) => byRequests).length,
  'rules that open, noticed by the file': openingMutants.length,
  'changes of pull requests, noticed by boot, log, file or guide': reviewMutants.length,
  missed: missed.length,
  'false alarms of 100': falseAlarms,
  'CPU seconds': Math.round((user + system) / 1e6),
})
for (const kind of new Set(unseen))
  console.log(`not by requests: ${kind}, ${unseen.filter((each) => each === kind).length}`)
for (const name of missed) console.log(`missed: ${name}`)
process.exitCode = missed.length + falseAlarms > 0 ? 1 : 0
