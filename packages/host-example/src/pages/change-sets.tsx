/** What was changed for all, one line and one Undo for each change set. */
import { Link, router } from '@inertiajs/react'
import { type ReactNode, useState } from 'react'
import type { ChangeSet } from '../home.ts'
import { format, plural } from '../texts/texts.ts'
import { callApi } from './api.ts'
import { fully } from './dates.ts'
import { Face, Icon } from './drawings.tsx'
import { Ago } from './parts.tsx'
import { useReady, useShared, useTexts } from './shared.ts'
import { type News, Toast } from './toast.tsx'

export function ChangeSets({ sets }: { sets: readonly ChangeSet[] }): ReactNode {
  const texts = useTexts()
  const [news, setNews] = useState<News | null>(null)

  async function undo({ revision, changes }: ChangeSet): Promise<void> {
    const problem = await callApi(texts, 'POST', `/api/settings/changes/${revision}/revert`, {})
    if (problem === null) router.reload()
    setNews(
      problem === null ? { text: plural(texts.putBack, changes.length) } : { text: problem, isBad: true },
    )
  }

  return (
    <>
      {sets.length === 0 ? (
        <p className="card empty">{texts.nothingChanged}</p>
      ) : (
        <ul className="card lines">
          {sets.map((set) => (
            <Line key={set.revision} set={set} onUndo={() => void undo(set)} />
          ))}
        </ul>
      )}
      <Toast news={news} onDismiss={() => setNews(null)} />
    </>
  )
}

function Line({ set, onUndo }: { set: ChangeSet; onUndo: () => void }): ReactNode {
  const { actor, at, changes } = set
  const { app } = useShared()
  const texts = useTexts()
  const isReady = useReady()
  const names = changes.map(({ setting }) => setting).join(', ')
  const [first] = changes
  const isOne = changes.length === 1
  const label = format(texts.undoOf, { names })
  return (
    <li className="row">
      <Face id={actor.id} name={actor.name} />
      <span>
        <span>
          {format(texts.changed, { name: actor.name })}{' '}
          <b>{isOne ? names : plural(texts.settingsCount, changes.length)}</b>
        </span>
        {isOne && first ? <Diff {...first} /> : <span className="small">{names}</span>}
      </span>
      <Ago at={at} title={app ? fully(at, app) : undefined} />
      {changes.some(({ isSecret }) => isSecret) ? (
        // Which secret comes back is asked there.
        <Link className="button quiet" href="/settings/manage?view=activity" aria-label={label}>
          {texts.undo}
        </Link>
      ) : (
        <button
          className="button quiet"
          type="button"
          aria-label={label}
          disabled={!isReady}
          onClick={onUndo}
        >
          {texts.undo}
        </button>
      )}
    </li>
  )
}

function Diff({ from, to, isSecret }: ChangeSet['changes'][number]): ReactNode {
  const texts = useTexts()
  return (
    <span className="row diff">
      {isSecret || from === null ? null : (
        <>
          <span className="unseen">{texts.from} </span>
          <del>{from}</del>
          <Icon name="arrow" />
        </>
      )}
      <span className="unseen">{texts.to} </span>
      <ins>{isSecret ? texts.aSecret : (to ?? texts.itsDefault)}</ins>
    </span>
  )
}
