// Measures subjects side by side: rotated rounds, medians, so that a busy machine disturbs all of them alike.
import { mkdirSync, writeFileSync } from 'node:fs'

/** Whether BENCH_QUICK=1 asks for small sizes: to see that a script works, not for figures. */
const quick = process.env.BENCH_QUICK === '1'

/** The full size, or the small one under BENCH_QUICK=1. */
export const size = (full, small) => (quick ? small : full)

/** Runs `subjects` ({ name: () => operations done }) in rotated rounds; returns the median ns per operation of each. */
export async function measure(subjects, options) {
  const rounds = await sample(subjects, options)
  return Object.fromEntries(
    Object.keys(subjects).map((name) => [name, median(rounds.map((round) => round[name]))]),
  )
}

/** Like `measure`, but returns each round's ns per operation, for ratios within a round. */
export function sample(subjects, options) {
  const time = async (name) => {
    const start = process.hrtime.bigint()
    const operations = await subjects[name]()
    return Number(process.hrtime.bigint() - start) / operations
  }
  return inRounds(Object.keys(subjects), time, options)
}

/** Calls `take(name, round)` for all names, in rotated rounds; returns each round's results by name, without those that warm up. */
export async function inRounds(names, take, { rounds = size(9, 3), warmUps = 1 } = {}) {
  const samples = []
  for (let round = 0; round < rounds; round++) {
    const sampled = {}
    for (const name of rotate(names, round)) sampled[name] = await take(name, round)
    if (round >= warmUps) samples.push(sampled)
  }
  return samples
}

/** Begins with another one in each round: nobody always runs in the shadow of the same predecessor. */
export function rotate(names, round) {
  const at = round % names.length
  return [...names.slice(at), ...names.slice(0, at)]
}

export function median(values) {
  return percentile(values, 0.5)
}

export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** Prints the rows and keeps them as JSON in bench/results. */
export function report(title, rows) {
  console.log(`\n${title}${quick ? ' (quick: no figures to quote)' : ''}`)
  console.table(rows)
  mkdirSync(new URL('../results', import.meta.url), { recursive: true })
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const content = { title, at: new Date().toISOString(), node: process.version, quick, rows }
  writeFileSync(new URL(`../results/${name}.json`, import.meta.url), JSON.stringify(content, null, 2))
}
