import type { PoolClient } from 'pg'
import { test } from 'tap'
import { sendTogether } from '#src/store/postgres/connection.js'
import { change, rowId, writeAll } from '../../contract/case.ts'
import { newPool, openStore } from './open-store.js'

const clientOf = (members: object): PoolClient => members as PoolClient
const statements = [{ text: 'begin' }, { text: 'commit' }]

test('a pipelining driver gets all statements before the first one is answered', async (t) => {
  const log: string[] = []
  const query = async ({ text }: { text: string }) => {
    log.push(`${text} is sent`)
    await new Promise(setImmediate)
    log.push(`${text} is answered`)
    return text
  }
  t.same(await sendTogether(clientOf({ pipeline: true, query }), statements), ['begin', 'commit'])
  t.same(log, ['begin is sent', 'commit is sent', 'begin is answered', 'commit is answered'])
  const fail = (): never => {
    throw new Error('no')
  }
  await t.rejects(sendTogether(clientOf({ pipeline: true, query: fail }), statements), { message: 'no' })
})

test('any other driver sends a statement after the answer to the one before', async (t) => {
  const log: string[] = []
  const query = async ({ text }: { text: string }) => {
    log.push(`${text} is sent`)
    await new Promise(setImmediate)
    log.push(`${text} is answered`)
    return text
  }
  t.same(await sendTogether(clientOf({ pipeline: false, query }), statements), ['begin', 'commit'])
  t.same(log, ['begin is sent', 'begin is answered', 'commit is sent', 'commit is answered'])
})

test('a pool of the application gets one statement at a time: its driver warns of anything else', async (t) => {
  const warnings: Error[] = []
  const take = (warning: Error): void => void warnings.push(warning)
  process.on('warning', take)
  t.teardown(() => process.off('warning', take))
  const store = await openStore(t, await newPool(t))
  await writeAll(store, [change(rowId('a'), '1'), change(rowId('b'), '2')])
  await new Promise(setImmediate)
  t.same(warnings, [])
})
