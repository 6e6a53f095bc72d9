/** Events that a handler could not handle, for administrators: what failed, and the way to retry or to drop each. */
import { router, usePage } from '@inertiajs/react'
import { type ReactNode, useState } from 'react'
import type { DeadLetter } from '../modules/dead-letters/dead-letters-module.ts'
import { ApiError, callApi } from './api.ts'
import { Layout } from './layout.tsx'

export function DeadLettersPage(): ReactNode {
  const { deadLetters } = usePage<{ deadLetters: DeadLetter[] }>().props
  return (
    <Layout title="Dead letters">
      <h1>Dead letters</h1>
      <p className="muted">
        An event becomes a dead letter of a handler when its last attempt has failed. Retry it after the cause
        is fixed, or drop it.
      </p>
      {deadLetters.length === 0 ? <p className="muted">There are no dead letters.</p> : null}
      {deadLetters.map((letter) => (
        <DeadLetterCard key={letter.id} letter={letter} />
      ))}
    </Layout>
  )
}

function DeadLetterCard({ letter }: { letter: DeadLetter }): ReactNode {
  const { id, type, handler, attempts, error, failedAt } = letter
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const path = `/api/dead-letters/${encodeURIComponent(id)}`

  async function run(method: string, target: string): Promise<void> {
    setBusy(true)
    setProblem(null)
    try {
      await callApi(method, target)
      router.reload({ only: ['deadLetters'] })
    } catch (failure) {
      setProblem(failure instanceof ApiError ? failure.message : 'That did not work. Please try again.')
    } finally {
      setBusy(false)
    }
  }

  return (
    <article className="card" aria-label={`${type} for ${handler}`}>
      <h2>{type}</h2>
      <p className="text">{error}</p>
      <p className="muted">
        {handler}, {attempts} {attempts === 1 ? 'attempt' : 'attempts'}, last on{' '}
        <time dateTime={failedAt}>{new Date(failedAt).toLocaleString()}</time>
      </p>
      {problem === null ? null : (
        <p className="alert" role="alert">
          {problem}
        </p>
      )}
      <p className="actions">
        <button type="button" disabled={isBusy} onClick={() => void run('POST', `${path}/retry`)}>
          Retry
        </button>
        <button type="button" disabled={isBusy} onClick={() => void run('DELETE', path)}>
          Drop
        </button>
      </p>
    </article>
  )
}
