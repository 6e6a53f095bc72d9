// Streams: CPU of a delivery beside a bare `net` loop, time until the last of 1,000 readers has a change, memory of a
// connection beside bare node:http, and what a write costs without streams.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import Fastify from 'fastify'
import { inRounds, median, report, size } from './support/measure.mjs'
import { ask, messageOf } from './support/message.mjs'

const connections = size([1000, 3000], [50])
const options = { rounds: size(30, 5), warmUps: 3 }

for (const count of connections) await deliveries(count)
await memory(size(7900, 200)) // an instance has 8,000 of callers
await writes()

/** Both hold as many readers at once, and write to them in turn. */
async function deliveries(count) {
  const subjects = { net: await open('net', count), ours: await open('ours', count) }
  const samples = await inRounds(
    Object.keys(subjects),
    (name, round) => deliver(subjects[name], round),
    options,
  )
  const ratios = (member) => samples.map(({ net, ours }) => ours[member] / net[member])
  report(
    `Streams, one event to ${count} readers`,
    Object.keys(subjects).map((name) => ({
      subject: name,
      'CPU µs a delivery': median(samples.map((each) => each[name].cpu / count)).toFixed(2),
      'ms until the last has it': median(samples.map((each) => each[name].ms)).toFixed(1),
      'CPU of net': name === 'ours' ? median(ratios('cpu')).toFixed(2) : '',
      'time of net': name === 'ours' ? median(ratios('ms')).toFixed(2) : '',
      'goal CPU': name === 'ours' ? 1.25 : '',
    })),
  )
  for (const { close } of Object.values(subjects)) close()
}

async function deliver({ child, receive }, round) {
  const value = `round ${round}`
  const before = await ask(child, 'cpu')
  const received = receive(value)
  const start = performance.now()
  child.send({ publish: value })
  await received
  const ms = performance.now() - start
  return { ms, cpu: (await ask(child, 'cpu')).cpu - before.cpu }
}

/** One after the other: what is in use with so many connections, less what is without. */
async function memory(count) {
  const rows = []
  for (const name of ['net', 'http', 'ours']) {
    const { child, port, close } = await start(name)
    await openReaders(port, 1) // what is made once
    const before = await ask(child, 'memory')
    await openReaders(port, count)
    await sleep(size(2000, 10)) // buffers of the heads are let go
    const after = await ask(child, 'memory')
    const each = (member) => ((after[member] - before[member]) / count / 1000).toFixed(2)
    rows.push({ subject: name, 'heap kB': each('heap'), 'RSS kB': each('rss') })
    close()
  }
  report(`Streams, memory of a connection with ${count}`, rows)
}

/** A write where nothing streams, in process and in memory, so that nothing else is in the figure. */
async function writes() {
  const count = size(1000, 100)
  const subjects = {
    'without the routes': await writer(count, { stream: false }),
    'without readers': await writer(count),
  }
  const spend = async (name) => {
    const start = process.cpuUsage()
    await subjects[name]()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / count
  }
  const samples = await inRounds(Object.keys(subjects), spend, options)
  const medianOf = (name) => median(samples.map((each) => each[name]))
  const [first] = Object.keys(subjects)
  report(
    'Streams, a write of an application that has no readers',
    Object.keys(subjects).map((name) => ({
      subject: name,
      'CPU µs a write': medianOf(name).toFixed(1),
      [`of ${first}`]: median(samples.map((each) => each[name] / each[first])).toFixed(3),
    })),
  )
}

async function writer(count, options = {}) {
  const title = setting.text('bench.title', { displayName: 'Title', scope: SettingScope.Application })
  const app = Fastify()
  await app.register(settings, { definitions: [title], history: false, ...options })
  await app.ready()
  let value = 0
  return async () => {
    for (let write = 0; write < count; write++) await app.settings.set(title, `value ${value++}`)
  }
}

async function start(name) {
  const child = fork(new URL('servers/streams.mjs', import.meta.url), [name], { execArgv: ['--expose-gc'] })
  const { port } = await messageOf(child)
  return { child, port, close: () => child.disconnect() }
}

async function open(name, count) {
  const server = await start(name)
  return { ...server, receive: await openReaders(server.port, count) }
}

/**
 * Opens connections, eight of each caller, which end with the server. Resolves, when all have the first bytes, with a function
 * that waits until all have received a value.
 */
async function openReaders(port, count) {
  let waiting = { value: '\n\n', left: count, resolve() {} }
  const opened = new Promise((resolve) => (waiting.resolve = resolve))
  for (let index = 0; index < count; index++) {
    const socket = connect(port, '127.0.0.1')
    let seen
    socket.setEncoding('latin1').on('error', () => {})
    socket.on('data', (text) => {
      if (seen === waiting || !text.includes(waiting.value)) return
      seen = waiting
      if (--waiting.left === 0) waiting.resolve()
    })
    socket.write(
      `GET /api/settings/stream HTTP/1.1\r\nhost: bench\r\nx-caller: ${count === 1 ? 'first' : Math.floor(index / 8)}\r\nuser-agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0\r\naccept: text/event-stream\r\naccept-language: en\r\n\r\n`,
    )
    if (index % 200 === 199) await once(socket, 'data')
  }
  await opened
  return (value) => new Promise((resolve) => (waiting = { value: `"${value}"`, left: count, resolve }))
}
