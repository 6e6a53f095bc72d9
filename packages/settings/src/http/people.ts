/** The names of the people in an answer: the host knows them, by the option `findPeople`. */
import { truncate, withTimeout } from '@fastify-modular/core/internal'
import type { FastifyBaseLogger } from 'fastify'
import { type Conflict, SettingsChangedException } from '../exceptions.ts'
import type { FindPeople } from '../options.ts'

/** Names by id, for the ids that stand in the answer. */
export type People = Readonly<Record<string, string>>

/** Milliseconds that answers wait for names; the host may take longer, for the answers after them. */
const patience = 300
const longest = 10_000
/** Names are kept for so many milliseconds, so many of them. */
const keptFor = 60_000
const maxKept = 1000
const maxLength = 100

interface AskedFor {
  /** Undefined for an id that the host does not know, or has not answered for. */
  name?: string
  /** Settled when the host has answered, or when it took too long to wait for. */
  readonly answered: Promise<void>
  /** When the host may be asked again. */
  readonly until: number
}

/** Returns the function that names people. It never rejects: where the host is slow, or fails, ids have no names. */
export function createPeople(find: FindPeople | undefined, log: FastifyBaseLogger) {
  /** The oldest first. */
  const kept = new Map<string, AskedFor>()

  /** Asks the host. The ids are kept at once, so that no other answer asks for them. */
  function ask(find: FindPeople, ids: readonly string[]): void {
    const answered = withTimeout(answer(find, ids, AbortSignal.timeout(longest)), patience, () => {})
    for (const id of ids) {
      kept.delete(id)
      kept.set(id, { answered, until: Date.now() + keptFor })
    }
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) return
      kept.delete(oldest)
    }
  }

  async function answer(find: FindPeople, ids: readonly string[], signal: AbortSignal): Promise<void> {
    try {
      const names: Readonly<Record<string, unknown>> | undefined = await find(ids, signal)
      for (const id of ids) {
        const name = names && Object.hasOwn(names, id) ? names[id] : undefined
        const known = kept.get(id)
        if (known && typeof name === 'string' && name !== '') known.name = truncate(name, maxLength)
      }
    } catch (err) {
      log.warn({ err }, 'settings option findPeople failed; ids are shown')
    }
  }

  return async function people(ids: Iterable<string | null | undefined>): Promise<People> {
    const wanted = [...new Set(ids)].filter((id) => typeof id === 'string' && id !== '') as string[]
    const now = Date.now()
    const unknown = wanted.filter((id) => (kept.get(id)?.until ?? 0) <= now)
    if (find && unknown.length > 0) ask(find, unknown)
    const asked = wanted.map((id) => [id, kept.get(id)] as const)
    await Promise.all(asked.flatMap(([, known]) => (known ? [known.answered] : [])))
    return Object.fromEntries(
      asked.flatMap(([id, known]) => (known?.name === undefined ? [] : [[id, known.name]])),
    )
  }
}

export type NamePeople = ReturnType<typeof createPeople>

/**
 * Names the people whose changes a write conflicts with.
 * @param show what the reader is shown of a conflict
 * @throws what the write throws
 */
export async function nameConflicts<T>(
  writing: Promise<T>,
  people: NamePeople,
  show: (conflict: Conflict) => Conflict = (conflict) => conflict,
): Promise<T> {
  try {
    return await writing
  } catch (error) {
    if (!(error instanceof SettingsChangedException)) throw error
    const conflicts = error.conflicts.map(show)
    throw new SettingsChangedException(conflicts, await people(conflicts.map(({ updatedBy }) => updatedBy)))
  }
}
