// Compares servers over real sockets by what they spend: CPU time of the server's process per request.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { openLoad, requestBytes } from './load.mjs'
import { median, percentile, rotate, size } from './measure.mjs'

/** Starts servers ({ name: URL of a script that calls `serve` }), each a process of its own. */
export async function startServers(scripts) {
  const started = Object.entries(scripts).map(async ([name, script]) => [name, await startServer(script)])
  const servers = Object.fromEntries(await Promise.all(started))
  return { servers, stop: () => Object.values(servers).forEach((server) => server.stop()) }
}

async function startServer(script) {
  const child = fork(script)
  const [{ port }] = await Promise.race([once(child, 'message'), failed(child, script)])
  const load = await openLoad(port)
  const cpu = async () => {
    child.send('cpu')
    const [time] = await once(child, 'message')
    return time
  }
  return {
    /** CPU µs per request. */
    async spend({ status, ...request }, count) {
      const bytes = requestBytes(request)
      const before = await cpu()
      await load.send(bytes, status, count)
      return ((await cpu()) - before) / count
    },
    stop() {
      load.close()
      child.disconnect()
    },
  }
}

async function failed(child, script) {
  const [code] = await once(child, 'exit')
  throw new Error(`${script} ended with code ${code} before it listened`)
}

/**
 * Measures subjects ({ name: { server, path, headers, status } }) in many short rotated rounds. Returns for each the
 * median µs per request, and the cost of the first subject over its own within the same round: above 1 is cheaper.
 */
export async function compare(subjects, { rounds = size(41, 4), requests = size(1000, 100) } = {}) {
  const [reference] = Object.keys(subjects)
  const samples = []
  for (let round = 0; round < rounds; round++) {
    const sampled = {}
    for (const name of rotate(Object.keys(subjects), round)) {
      const { server, ...request } = subjects[name]
      sampled[name] = await server.spend(request, round === 0 ? requests * 5 : requests)
    }
    if (round > 0) samples.push(sampled) // the first round warms up
  }
  return Object.keys(subjects).map((name) => {
    const ratios = samples.map((round) => round[reference] / round[name])
    return {
      name,
      micros: median(samples.map((round) => round[name])),
      ratio: median(ratios),
      quartiles: [percentile(ratios, 0.25), percentile(ratios, 0.75)],
    }
  })
}
