/** What has happened to settings, page by page, newest first. */
import type { SettingChangeSet } from '@fastify-modular/settings/client'
import { useEffect, useState } from 'react'
import { usePage } from '../page-context.ts'

/** A page of changes; `next` is where the one after it begins. */
interface ChangesPage {
  readonly changes: readonly SettingChangeSet[]
  readonly next: string | null
  readonly people: Readonly<Record<string, string>>
}

export type LoadChanges = (before?: string) => Promise<ChangesPage>

export interface Changes {
  /** Undefined until the first page is there. */
  readonly changes: readonly SettingChangeSet[] | undefined
  readonly failure: string
  /** What was done from here; a modal dialog hides the announcements of the page. */
  readonly done: string
  /** Undefined at the end. */
  readonly showOlder: (() => void) | undefined
  readonly reload: () => void
  readonly report: (done: string) => void
  readonly fail: (error: unknown) => void
}

/** @param load another function loads from the beginning */
export function useChanges(load: LoadChanges): Changes {
  const { editor } = usePage()
  const [page, setPage] = useState<ChangesPage>()
  const [failure, setFailure] = useState('')
  const [done, setDone] = useState('')
  const [round, setRound] = useState(0)
  const fail = (error: unknown): void => setFailure(editor.explain(error))

  useEffect(() => {
    let isGone = false
    async function begin(): Promise<void> {
      try {
        // Whether a change still holds, the values say.
        const [first] = await Promise.all([load(), editor.refresh()])
        if (isGone) return
        editor.know(first.people)
        setPage(first)
        setFailure('')
      } catch (error) {
        if (!isGone) fail(error)
      }
    }
    void begin()
    return () => {
      isGone = true
    }
  }, [load, round])

  const next = page?.next ?? null
  function showOlder(): void {
    if (page === undefined || next === null) return
    load(next).then((older) => append(page, older), fail)
  }

  /** Of a list that is no longer shown, nothing is. */
  function append(newer: ChangesPage, older: ChangesPage): void {
    editor.know(older.people)
    setPage((now) => (now === newer ? { ...older, changes: join(newer.changes, older.changes) } : now))
  }

  return {
    changes: page?.changes,
    failure,
    done,
    showOlder: next === null ? undefined : showOlder,
    reload: () => setRound(round + 1),
    report: setDone,
    fail,
  }
}

/** A page may end within a revision; the next one goes on with it. */
function join(
  newer: readonly SettingChangeSet[],
  older: readonly SettingChangeSet[],
): readonly SettingChangeSet[] {
  const [last, first] = [newer.at(-1), older[0]]
  if (!last || last.revision !== first?.revision) return [...newer, ...older]
  return [...newer.slice(0, -1), { ...last, entries: [...last.entries, ...first.entries] }, ...older.slice(1)]
}
