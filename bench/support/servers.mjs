// Compares servers over real sockets by what they spend: CPU time of the server's process per request.
import { fork } from 'node:child_process'
import { openLoad } from './load.mjs'
import { inRounds, median, percentile, rotate, size } from './measure.mjs'
import { ask, messageOf } from './message.mjs'

/**
 * Measures cases ({ case: { subject: { server, path, headers, status } } }) on servers ({ server: URL of a script that
 * calls `serve` }). Processes of one program differ by some percent, so there are several series, each with new ones.
 * Returns for each case and subject the median µs per request, and the median of what the case's first subject spends
 * over its own in the same round: above 1 is cheaper than the first.
 */
export async function compareServers(scripts, cases, { series = size(7, 1) } = {}) {
  const samples = Object.fromEntries(Object.keys(cases).map((name) => [name, []]))
  for (let number = 0; number < series; number++) {
    const servers = await startServers(scripts, number)
    for (const [name, subjects] of Object.entries(cases))
      samples[name].push(...(await sampleCase(servers, subjects)))
    for (const server of Object.values(servers)) server.stop()
  }
  return Object.fromEntries(
    Object.entries(cases).map(([name, subjects]) => [name, summarise(subjects, samples[name])]),
  )
}

/** The compiler works in the server's process, and is not done with a whole request after some thousands of them. */
const warmUp = size(20_000, 400)

function sampleCase(servers, subjects) {
  const spend = (subject, round) => {
    const { server, ...request } = subjects[subject]
    return servers[server].spend(request, round === 0 ? warmUp : size(1000, 100))
  }
  return inRounds(Object.keys(subjects), spend, { rounds: size(10, 3) })
}

function summarise(subjects, samples) {
  const [reference] = Object.keys(subjects)
  const summary = Object.keys(subjects).map((subject) => {
    const ratios = samples.map((sample) => sample[reference] / sample[subject])
    const micros = median(samples.map((sample) => sample[subject]))
    return [
      subject,
      { micros, ratio: median(ratios), quartiles: [percentile(ratios, 0.25), percentile(ratios, 0.75)] },
    ]
  })
  return Object.fromEntries(summary)
}

async function startServers(scripts, series) {
  const servers = {}
  for (const name of rotate(Object.keys(scripts), series)) servers[name] = await startServer(scripts[name])
  return servers
}

/** Without them a server that allocates more at boot has the larger young generation, and collects it less often. */
const sameHeap = ['--min-semi-space-size=16', '--max-semi-space-size=16']

async function startServer(script) {
  const child = fork(script, { execArgv: sameHeap })
  const { port } = await messageOf(child)
  const load = openLoad(port)
  return {
    /** CPU µs per request. */
    async spend({ status, ...request }, count) {
      const before = await ask(child, 'cpu')
      await load.send(request, status, count)
      return ((await ask(child, 'cpu')) - before) / count
    },
    stop() {
      load.close()
      child.disconnect()
    },
  }
}
