/** What is wrong, above the settings, with the focus on it: each line leads to its setting. */
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { useEditor, usePage } from '../shared/page-context.ts'

export function ErrorSummary(): ReactNode {
  const { messages, reveal } = usePage()
  const summary = useEditor((state) => state.summary)
  const drafts = useEditor((state) => state.drafts)
  const definitions = useEditor((state) => state.definitions)
  const element = useRef<HTMLDivElement>(null)
  const keys = summary?.keys.filter((key) => (drafts.get(key)?.errors.length ?? 0) > 0) ?? []

  // A layout effect: a passive one would come after the user's next key.
  useLayoutEffect(() => {
    if (summary) element.current?.focus()
  }, [summary])

  if (keys.length === 0) return null
  return (
    <div
      className="fm-notice fm-bad"
      role="alert"
      tabIndex={-1}
      ref={element}
      aria-label={messages.problemTitle}
    >
      <h2>{messages.problemTitle}</h2>
      <ul>
        {keys.map((key) => {
          const name = definitions.find((definition) => definition.key === key)?.displayName ?? key
          return (
            <li key={key}>
              <a
                href={`#setting:${key}`}
                onClick={(event) => {
                  event.preventDefault()
                  reveal(key)
                }}
              >
                {name}: {drafts.get(key)?.errors.join(' ')}
              </a>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
