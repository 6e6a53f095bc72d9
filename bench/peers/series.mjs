// Several series of new processes, for as long as there is time.
import { median } from '../support/measure.mjs'

/**
 * Runs `series` (() => what `compareServers` returns for one) up to `most` times, but begins none that would end after `minutes`, judged by those before.
 * Returns for each case and subject the medians over the series, and the range of the ratios.
 */
export async function repeatSeries(series, { most, minutes }) {
  const start = Date.now()
  const all = [await series(0)]
  const nextEnd = () => ((Date.now() - start) / all.length) * (all.length + 1)
  while (all.length < most && nextEnd() < minutes * 60_000) all.push(await series(all.length))
  console.log(`Series of new processes: ${all.length}`)
  return mapValues(all[0], (subjects, what) =>
    mapValues(subjects, (_subject, name) => summarise(all.map((results) => results[what][name]))),
  )
}

function summarise(subjects) {
  const ratios = subjects.map(({ ratio }) => ratio)
  return {
    micros: median(subjects.map(({ micros }) => micros)),
    ratio: median(ratios),
    range: [Math.min(...ratios), Math.max(...ratios)],
  }
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}
