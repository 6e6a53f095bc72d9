/** Cases: events are enqueued in the transaction of the write. */
import assert from 'node:assert/strict'
import type { Tx } from '@fastify-modular/core'
import type { StorePort, WriteResult } from '#src/store/store.js'
import { change, type ContractCase, rowId, rowOf, set, writeAll, revisionOf } from './case.ts'

export const enqueue: Readonly<Record<string, ContractCase>> = {
  'a store without transactions never enqueues': async (store) => {
    if (store.info.transactional) return
    let calls = 0
    await writeAll(store, [change(rowId('a'), '1')], { enqueue: () => void calls++ })
    assert.equal(calls, 0)
  },

  'enqueue gets the promised kind of transaction and what was written': async (store) => {
    if (!store.info.transactional) return
    const seen: { tx: Tx; written: WriteResult }[] = []
    const result = await writeAll(store, [change(rowId('a'), '1')], {
      enqueue: (tx, written) => void seen.push({ tx, written }),
    })
    assert.equal(seen.length, 1)
    assert.equal(seen[0]?.tx.kind, store.info.transactional)
    assert.deepEqual(seen[0]?.written, result)
  },

  'what enqueue writes is committed together with the rows, its parameters as data': async (store) => {
    if (!store.info.transactional) return
    await writeWith(store, 'a', 'create table contract_probe (note text)')
    await writeAll(store, [change(rowId('b'), '1')], {
      enqueue: (tx) =>
        execute(tx, `insert into contract_probe values (${tx.kind === 'sync' ? '?' : '$1'})`, [
          "'); drop table contract_probe; --",
        ]),
    })
    // A second table of that name fails, so the first one is there.
    await assert.rejects(writeWith(store, 'c', 'create table contract_probe (note text)'))
    assert.equal(await revisionOf(store), 2)
    assert.equal(await rowOf(store, rowId('c')), undefined)
  },

  'an enqueue that throws undoes rows, history, revision and what it wrote itself': async (store) => {
    if (!store.info.transactional) return
    await set(store, 'a', '1')
    const stop = new Error('stop')
    await assert.rejects(
      writeWith(store, 'a', 'create table contract_probe (note text)', stop),
      (error) => error === stop,
    )
    assert.equal((await rowOf(store, rowId('a')))?.value, '1')
    assert.equal(await revisionOf(store), 1)
    assert.equal((await store.history({ limit: 10 })).length, 1)
    await writeWith(store, 'a', 'create table contract_probe (note text)')
    assert.equal(await revisionOf(store), 2)
  },

  'an error that enqueue swallows does not pass for a commit': async (store) => {
    if (store.info.transactional !== 'async') return // SQLite goes on after a failed statement
    const write = writeAll(store, [change(rowId('a'), '1')], {
      enqueue: async (tx) => {
        if (tx.kind === 'async') await tx.query('select * from no_such_table', []).catch(() => {})
      },
    })
    await assert.rejects(write)
    assert.equal(await rowOf(store, rowId('a')), undefined)
    assert.equal(await revisionOf(store), 0)
  },

  'the transaction of enqueue cannot be used after it': async (store) => {
    if (!store.info.transactional) return
    const kept: Tx[] = []
    await writeAll(store, [change(rowId('a'), '1')], { enqueue: (tx) => void kept.push(tx) })
    await assert.rejects(async () => {
      for (const tx of kept) await execute(tx, 'create table contract_probe (note text)', [])
    })
    await writeWith(store, 'b', 'create table contract_probe (note text)')
  },
}

function writeWith(store: StorePort, key: string, sql: string, failure?: Error): Promise<WriteResult> {
  return writeAll(store, [change(rowId(key), '"new"')], {
    enqueue: (tx) => {
      const pending = execute(tx, sql, [])
      if (!failure) return pending
      if (!pending) throw failure
      return pending.then(() => Promise.reject(failure))
    },
  })
}

function execute(tx: Tx, sql: string, params: readonly unknown[]): void | Promise<void> {
  return tx.kind === 'sync' ? tx.run(sql, params) : tx.query(sql, params).then(() => undefined)
}
