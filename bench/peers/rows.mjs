// The rows of the tables: one for each request, a column for each server.

/** µs of CPU time per request. */
export function microsRows(results) {
  return rows(results, ({ micros }) => micros.toFixed(1))
}

/** What a server spends as a multiple of what the first one spends, with the geometric mean of `means`. */
export function timesRows(results, means) {
  return [
    ...rows(results, ({ ratio }) => (1 / ratio).toFixed(2)),
    ...means.map((mean) => meanRow(results, mean)),
  ]
}

/** The least and the most of the same over the series. */
export function rangeRows(results) {
  return rows(results, ({ range: [low, high] }) => `${(1 / high).toFixed(2)}–${(1 / low).toFixed(2)}`)
}

function rows(results, format) {
  return Object.entries(results).map(([what, subjects]) => {
    const cells = Object.entries(subjects).map(([name, subject]) => [name, format(subject)])
    return { what, ...Object.fromEntries(cells) }
  })
}

/** `instead` ({ request: name of another subject }) has the first server answer a request in another way. */
function meanRow(results, { what, servers, instead = {} }) {
  const cells = servers.map((name) => {
    const times = Object.entries(results).map(
      ([request, subjects]) => (subjects[instead[request]]?.ratio ?? 1) / subjects[name].ratio,
    )
    return [name, (times.reduce((product, each) => product * each) ** (1 / times.length)).toFixed(2)]
  })
  return { what, ...Object.fromEntries(cells) }
}
