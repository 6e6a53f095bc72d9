/** What users of screen readers are told. */
import { type ReactNode, useLayoutEffect, useState } from 'react'
import { useEditor } from '../page-context.ts'

interface Announcement {
  readonly text: string
}

/** Two regions: what a search has found is said late, and would take the place of what was saved meanwhile. */
export function Announcers({ found }: { readonly found: Announcement }): ReactNode {
  const announcement = useEditor((state) => state.announcement)
  return (
    <>
      <Announcer announcement={announcement} delay={50} />
      <Announcer announcement={found} delay={300} />
    </>
  )
}

interface AnnouncerProps {
  /** A new object says its text again. */
  readonly announcement: Announcement
  /** Milliseconds in which another one takes its place. */
  readonly delay: number
}

function Announcer({ announcement, delay }: AnnouncerProps): ReactNode {
  const [text, setText] = useState('')
  // Emptied first, so that the same words are said again.
  useLayoutEffect(() => {
    setText('')
    const timer = setTimeout(() => setText(announcement.text), delay)
    return () => clearTimeout(timer)
  }, [announcement, delay])
  return (
    <p className="fm-hidden" role="status" dir="auto">
      {text}
    </p>
  )
}
