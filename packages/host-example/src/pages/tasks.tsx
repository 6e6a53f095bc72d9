/** Three things to do, which tick themselves and go when all are done. */
import { type ReactNode, useEffect, useState } from 'react'
import { format } from '../texts/texts.ts'
import { Icon } from './drawings.tsx'
import { useLook, useTexts } from './shared.ts'

type Task = 'color' | 'window' | 'undo'

interface Progress {
  /** The colour of the first visit: one that was changed and is the first one again was put back. */
  readonly first: string
  readonly done: readonly Task[]
}

const place = 'tasks'

export function Tasks(): ReactNode {
  const texts = useTexts()
  const accent = useLook()?.accent ?? ''
  /** Null while it is not known, and on the server. */
  const [progress, setProgress] = useState<Progress | null>(null)

  function tick(task: Task, before: Progress): void {
    if (before.done.includes(task)) return
    const next = { ...before, done: [...before.done, task] }
    localStorage.setItem(place, JSON.stringify(next))
    setProgress(next)
  }

  useEffect(() => {
    const known = progress ?? read() ?? { first: accent, done: [] }
    setProgress(known)
    if (accent !== known.first) tick('color', known)
    else if (known.done.includes('color')) tick('undo', known)
  }, [accent])

  const done = progress?.done ?? []
  if (!progress || done.length === 3) return null
  const latest = done.at(-1)
  const tasks: Readonly<Record<Task, ReactNode>> = {
    color: texts.tasks.color,
    window: (
      <a
        className="row"
        href="/as-stranger"
        target="_blank"
        rel="opener"
        onClick={() => tick('window', progress)}
      >
        {texts.tasks.window}
        <Icon name="arrow" />
      </a>
    ),
    undo: (
      <a className="row" href="/settings/manage?view=activity">
        {texts.tasks.undo}
        <Icon name="arrow" />
      </a>
    ),
  }
  return (
    <section>
      <div className="row part">
        <h2>{texts.toDo}</h2>
        <span className="small">{format(texts.doneOf, { count: done.length })}</span>
      </div>
      <ul className="card lines tasks">
        {(['color', 'window', 'undo'] as const).map((task) => (
          <li className="row" key={task}>
            <Icon name={done.includes(task) ? 'check' : 'box'} />
            {done.includes(task) ? <del>{texts.tasks[task]}</del> : <span>{tasks[task]}</span>}
          </li>
        ))}
      </ul>
      <p className="unseen" role="status">
        {latest ? `${texts.tasks[latest]}: ${format(texts.doneOf, { count: done.length })}` : ''}
      </p>
    </section>
  )
}

/** What this browser remembers; anybody may have written something else there. */
function read(): Progress | null {
  try {
    const { first, done }: Partial<Progress> = JSON.parse(localStorage.getItem(place) ?? '')
    return typeof first === 'string' && Array.isArray(done) ? { first, done } : null
  } catch {
    return null
  }
}
