/** The names of the people in an answer: the host knows them, by the option `people`. */
import { truncate } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import { SettingsChangedException } from '../exceptions.ts'
import type { FindPeople } from '../http-options.ts'

/** Names by id, for the ids that stand in the answer. */
export type People = Readonly<Record<string, string>>

/** Milliseconds that an answer waits for names. */
const patience = 300
/** Names are kept for so many milliseconds, so many of them. */
const keptFor = 60_000
const maxKept = 1000
const maxLength = 100

interface KnownName {
  /** Null for an id that the host does not know. */
  readonly name: string | null
  readonly until: number
}

/** Returns the function that names people. It never rejects: where the host is slow, or fails, ids have no names. */
export function createPeople(find: FindPeople | undefined, log: FastifyBaseLogger) {
  /** The oldest first. */
  const kept = new Map<string, KnownName>()

  /** Asks the host. */
  async function ask(find: FindPeople, ids: readonly string[]): Promise<void> {
    const deadline = new AbortController()
    let timer: NodeJS.Timeout | undefined
    const isLate = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        deadline.abort()
        resolve(undefined)
      }, patience)
    })
    try {
      const names = await Promise.race([find(ids, deadline.signal), isLate])
      if (names) for (const id of ids) keep(id, Object.hasOwn(names, id) ? names[id] : undefined)
    } catch (err) {
      log.warn({ err }, 'settings option people failed; ids are shown')
    } finally {
      clearTimeout(timer)
    }
  }

  function keep(id: string, name: unknown): void {
    kept.delete(id)
    const shown = typeof name === 'string' && name !== '' ? truncate(name, maxLength) : null
    kept.set(id, { name: shown, until: Date.now() + keptFor })
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) return
      kept.delete(oldest)
    }
  }

  return async function people(ids: Iterable<string | null | undefined>): Promise<People> {
    const wanted = [...new Set(ids)].filter((id) => typeof id === 'string' && id !== '') as string[]
    const now = Date.now()
    const unknown = wanted.filter((id) => (kept.get(id)?.until ?? 0) <= now)
    if (find && unknown.length > 0) await ask(find, unknown)
    return Object.fromEntries(
      wanted.flatMap((id) => {
        const name = kept.get(id)?.name
        return typeof name === 'string' ? [[id, name]] : []
      }),
    )
  }
}

export type NamePeople = ReturnType<typeof createPeople>

/** Names the people whose changes a write conflicts with. @throws what the write throws */
export async function nameConflicts<T>(writing: Promise<T>, people: NamePeople): Promise<T> {
  try {
    return await writing
  } catch (error) {
    if (!(error instanceof SettingsChangedException)) throw error
    const { conflicts } = error
    throw new SettingsChangedException(conflicts, await people(conflicts.map(({ updatedBy }) => updatedBy)))
  }
}
