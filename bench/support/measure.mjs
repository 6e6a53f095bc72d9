// Measures subjects side by side: rotated rounds, medians, so that a busy machine disturbs all of them alike.
import { mkdirSync, writeFileSync } from 'node:fs'

/** Runs `subjects` ({ name: () => operations done } ) in rotated rounds; returns the median ns per operation of each. */
export async function measure(subjects, { rounds = 9 } = {}) {
  const names = Object.keys(subjects)
  const samples = new Map(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < names.length; at++) {
      const name = names[(at + round) % names.length]
      const start = process.hrtime.bigint()
      const operations = await subjects[name]()
      const ns = Number(process.hrtime.bigint() - start) / operations
      if (round > 0) samples.get(name).push(ns) // the first round warms up
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(samples.get(name))]))
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]
}

export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

/** Prints the rows and keeps them as JSON in bench/results. */
export function report(title, rows) {
  console.log(`\n${title}`)
  console.table(rows)
  mkdirSync(new URL('../results', import.meta.url), { recursive: true })
  const file = new URL(`../results/${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.json`, import.meta.url)
  writeFileSync(file, JSON.stringify({ title, at: new Date().toISOString(), node: process.version, rows }, null, 2))
}
