/** Streams that fail when half of the answer is out: Fastify logs it from an event, where a throw ends the process. */
import { Readable } from 'node:stream'
import Fastify, { type FastifyServerOptions } from 'fastify'
import { type Test, test } from 'tap'
import { openConnection, rawRequest } from '@fastify-modular/test-support/raw-http'
import { createApp, listen } from './support/app.js'
import { hostileValues } from './support/hostile.js'

const message = 'response terminated with an error with headers already sent'

/** Fastify itself reads the code before it logs. */
const beyondUs = 'a getter code that throws'

/** Sends its first chunk, then fails with the value. */
function failing(make: () => unknown): Readable {
  let isStarted = false
  return new Readable({
    read() {
      if (isStarted) this.destroy(make() as Error)
      else this.push('first')
      isStarted = true
    },
  })
}

/** The process survives it, the caller sees that the answer is cut, and the failure is in the log. */
async function expectSurvival(t: Test, make: () => unknown, server: FastifyServerOptions = {}) {
  const { app, log } = await createApp(t, {
    server,
    after: (it) =>
      it
        .get('/', (_, reply) => reply.type('text/plain').send(failing(make)))
        .get('/alive', async () => 'alive'),
  })
  const address = await listen(app)
  const connection = await openConnection(address)
  connection.send('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const answer = (await connection.closed()).toString()
  t.notMatch(answer, /\r\n0\r\n/, 'cut before the last chunk')
  t.equal((await rawRequest(address, { target: '/alive' })).text, 'alive')
  return log
}

for (const [name, make] of Object.entries(hostileValues)) {
  if (name === beyondUs) continue
  test(`a stream that fails with ${name} ends its own answer only`, async (t) => {
    const log = await expectSurvival(t, make)
    const isFailure = Boolean(make()) // a stream that is destroyed with '' or NaN only ends early
    t.equal(
      log.some(({ msg }) => msg === message),
      isFailure,
    )
  })
}

const frozen = () => Object.freeze(new Error('the disk is full'))

test('the error of a stream is in the log also when the logger could not describe it', async (t) => {
  const log = await expectSurvival(t, frozen)
  const { err } = log.find(({ msg }) => msg === message) ?? {}
  t.match(err, { name: 'Error', message: 'the disk is full', stack: /streams\.test/ })
})

test('a serialiser of errors that the application chose stays in use where it works', async (t) => {
  const lines: { msg: string; err: unknown }[] = []
  const stream = {
    write: (line: string) => void lines.push(JSON.parse(line) as { msg: string; err: unknown }),
  }
  const err = (error: Error) => {
    if (Object.isFrozen(error)) throw new Error('cannot')
    return { type: 'mine', message: error.message, stack: '' }
  }
  const serializers = { err }
  const servers: readonly FastifyServerOptions[] = [
    { logger: { level: 'trace', stream, serializers } },
    { logger: false, loggerInstance: Fastify({ logger: { level: 'trace', stream, serializers } }).log },
  ]
  for (const server of servers) {
    lines.length = 0
    await expectSurvival(t, () => new Error('plain'), server)
    await expectSurvival(t, frozen, server)
    const errors = lines.filter(({ msg }) => msg === message).map((line) => line.err)
    t.match(errors, [
      { type: 'mine', message: 'plain' },
      { name: 'Error', message: 'the disk is full' },
    ])
    t.equal(serializers.err, err, 'the options of the application are left alone')
  }
})
