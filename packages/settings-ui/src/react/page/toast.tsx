/** What happened: shown for a moment, above the bar if there is one, and announced to users of screen readers. */
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Icon } from '../icons.tsx'
import type { Announcement } from '../model/editor-state.ts'
import { useEditor, usePage } from '../page-context.ts'

/** Two regions: what a search has found is said late, and would take the place of what was saved meanwhile. */
export function Announcers({ found }: { readonly found: Announcement }): ReactNode {
  const announcement = useEditor((state) => state.announcement)
  return (
    <>
      <Announcer announcement={announcement} delay={50} />
      <Announcer announcement={found} delay={300} isQuiet />
    </>
  )
}

interface AnnouncerProps {
  /** A new object says its text again. */
  readonly announcement: Announcement
  /** Milliseconds in which another one takes its place. */
  readonly delay: number
  readonly isQuiet?: boolean
}

/** Milliseconds for which it is shown; longer where it offers something. */
const shown = 4000
const offered = 10_000

function Announcer({ announcement, delay, isQuiet = announcement.isQuiet }: AnnouncerProps): ReactNode {
  const { messages } = usePage()
  const [text, setText] = useState('')
  const box = useRef<HTMLDivElement>(null)
  const { undo } = announcement

  // Emptied first, so that the same words are said again.
  useLayoutEffect(() => {
    setText('')
    const timer = setTimeout(() => setText(announcement.text), delay)
    return () => clearTimeout(timer)
  }, [announcement, delay])

  // As long as the mouse or the focus is on it, it stays.
  useEffect(() => {
    if (text === '') return undefined
    const hide = (): void => {
      if (!box.current?.matches(':hover, :focus-within')) setText('')
    }
    const timer = setInterval(hide, undo ? offered : shown)
    return () => clearInterval(timer)
  }, [text, undo])

  return (
    <div className={text === '' || isQuiet ? 'fm-hidden' : 'fm-toast'} ref={box}>
      {text !== '' && !isQuiet && <Icon name="check" />}
      <p role="status" dir="auto">
        {text}
      </p>
      {text !== '' && !isQuiet && (
        <>
          {undo && (
            <button
              type="button"
              className="fm-button is-quiet"
              onClick={() => {
                setText('')
                undo()
              }}
            >
              {messages.undo}
            </button>
          )}
          <button
            type="button"
            className="fm-button is-quiet is-icon"
            aria-label={messages.dismiss}
            onClick={() => setText('')}
          >
            <Icon name="close" />
          </button>
        </>
      )}
    </div>
  )
}
