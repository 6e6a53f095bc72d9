import { change, rowId, writeAll } from '../../contract/case.ts'
import type { StorePort } from '#src/store/store.js'

/** A write of `a` that holds its locks until it may commit. */
export function startHeldWrite(store: StorePort, userId: string) {
  let finish = (): void => {}
  const mayFinish = new Promise<void>((resolve) => (finish = resolve))
  let isReady = (): void => {}
  const ready = new Promise<void>((resolve) => (isReady = resolve))
  const written = writeAll(store, [change(rowId('a', userId), '"late"')], {
    enqueue: async () => {
      isReady()
      await mayFinish
    },
  })
  return { ready, finish, written }
}
