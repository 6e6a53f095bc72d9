/** Events that a handler could not handle, for administrators: what failed, and the way to retry or to drop each. */
import { router, usePage } from '@inertiajs/react'
import { type ReactNode, useState } from 'react'
import type { DeadLetter } from '../modules/dead-letters/dead-letters-module.ts'
import { plural } from '../texts/texts.ts'
import { callApi } from './api.ts'
import { fully } from './dates.ts'
import { Layout } from './layout.tsx'
import { Head } from './parts.tsx'
import { useShared, useTexts } from './shared.ts'

export function DeadLettersPage(): ReactNode {
  const { deadLetters } = usePage<{ deadLetters: DeadLetter[] }>().props
  const texts = useTexts()
  return (
    <Layout title={texts.deadLetters}>
      <main className="page is-narrow" id="main" tabIndex={-1}>
        <Head title={texts.deadLetters} lead={texts.deadLettersLead} />
        {deadLetters.length === 0 ? (
          <p className="empty">{texts.noDeadLetters}</p>
        ) : (
          <ul className="card lines">
            {deadLetters.map((letter) => (
              <Line key={letter.id} letter={letter} />
            ))}
          </ul>
        )}
      </main>
    </Layout>
  )
}

function Line({ letter }: { letter: DeadLetter }): ReactNode {
  const { id, type, handler, attempts, error, failedAt } = letter
  const { app } = useShared()
  const texts = useTexts()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const path = `/api/dead-letters/${encodeURIComponent(id)}`

  async function run(method: string, target: string): Promise<void> {
    setBusy(true)
    const problem = await callApi(texts, method, target)
    setProblem(problem)
    if (problem === null) router.reload({ only: ['deadLetters'] })
    setBusy(false)
  }

  return (
    <li className="dead-letter">
      <span>
        <b>{type}</b>
        <span className="small">{plural(texts.failedAttempts, attempts, { handler })}</span>
        <code>{error}</code>
        {app ? (
          <time className="small" dateTime={failedAt} suppressHydrationWarning>
            {fully(failedAt, app)}
          </time>
        ) : null}
        {problem === null ? null : <span role="alert">{problem}</span>}
      </span>
      <button
        className="button"
        type="button"
        disabled={isBusy}
        onClick={() => void run('POST', `${path}/retry`)}
      >
        {texts.retry}
      </button>
      <button className="button" type="button" disabled={isBusy} onClick={() => void run('DELETE', path)}>
        {texts.drop}
      </button>
    </li>
  )
}
