import { PassThrough } from 'node:stream'
import type { PoolClient } from 'pg'
import { test } from 'tap'
import { sendTogether } from '#src/store/postgres/connection.js'

const clientOf = (members: object): PoolClient => members as PoolClient

test('what is sent together leaves as one packet, also when sending fails', async (t) => {
  const stream = new PassThrough()
  const client = clientOf({ connection: { stream } })
  const answer = sendTogether(client, () => {
    stream.write('begin')
    t.equal(stream.read(), null, 'it waits')
    return 'sent'
  })
  t.equal(answer, 'sent')
  t.equal(String(stream.read()), 'begin')
  const fail = (): never => {
    throw new Error('no')
  }
  t.throws(() => sendTogether(client, fail), { message: 'no' })
  stream.write('rollback')
  t.equal(String(stream.read()), 'rollback', 'what comes later does not wait for ever')
})

test('a client that does not show its socket sends as ever', async (t) => {
  for (const members of [{}, { connection: null }, { connection: {} }, { connection: { stream: {} } }])
    t.equal(
      sendTogether(clientOf(members), () => 1),
      1,
    )
})
