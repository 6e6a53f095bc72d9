/** Listens for commits of publishers on one connection of the pool, and comes back after it is lost. */
import type { PgConnection, PgPool } from './boss.ts'

const longestPause = 5000

export interface Listener {
  close(): void
}

/** Calls `onNotice` at each commit that published. Losing the connection costs latency only: workers poll besides. */
export function listen(
  pool: PgPool,
  channel: string,
  onNotice: () => void,
  onLost: (error: unknown) => void,
): Listener {
  let connection: PgConnection | undefined
  let retry: NodeJS.Timeout | undefined
  let pause = 100
  let closed = false

  async function connect(): Promise<void> {
    try {
      const fresh = await pool.connect()
      if (closed) return fresh.release(true)
      connection = fresh
      fresh.on('notification', onNotice)
      fresh.on('error', lost)
      fresh.on('end', lost)
      await fresh.query(`LISTEN "${channel}"`)
      pause = 100
      onNotice() // what was published while nobody listened
    } catch (error) {
      lost(error)
    }
  }

  function lost(error: unknown): void {
    if (closed || retry) return
    connection?.release(true)
    connection = undefined
    onLost(error)
    retry = setTimeout(() => {
      retry = undefined
      void connect()
    }, pause)
    retry.unref()
    pause = Math.min(pause * 2, longestPause)
  }

  void connect()
  return {
    close() {
      closed = true
      clearTimeout(retry)
      connection?.release(true)
      connection = undefined
    },
  }
}
