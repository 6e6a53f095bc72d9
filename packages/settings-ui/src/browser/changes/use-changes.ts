/** What has happened to settings, page by page, newest first. */
import type { ChangesPage, SettingChangeSet } from '@fastify-modular/settings/client'
import { useEffect, useState } from 'preact/hooks'
import { usePage } from '../page-context.ts'

export type LoadChanges = (before?: string) => Promise<ChangesPage>

export type Changes = ReturnType<typeof useChanges>

/** @param load another function loads from the beginning */
export function useChanges(load: LoadChanges) {
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

  async function append(newer: ChangesPage, before: string): Promise<void> {
    const older = await load(before)
    editor.know(older.people)
    // Of a list that is no longer shown, nothing is.
    setPage((now) => (now === newer ? { ...older, changes: join(newer.changes, older.changes) } : now))
  }

  return {
    /** Undefined until the first page is there. */
    changes: page?.changes,
    failure,
    /** What was done from here; a modal dialog hides the announcements of the page. */
    done,
    /** Undefined at the end. */
    showOlder: page?.next ? (): void => void append(page, page.next ?? '').catch(fail) : undefined,
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
