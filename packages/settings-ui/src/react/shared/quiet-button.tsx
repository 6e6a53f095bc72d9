/** A button that looks like a link. Read aloud, it says which setting it is about. */
import type { ReactNode } from 'react'

interface QuietButtonProps {
  readonly children: ReactNode
  readonly about?: string
  readonly isPressed?: boolean
  readonly onClick: () => void
}

export function QuietButton({ children, about, isPressed, onClick }: QuietButtonProps): ReactNode {
  return (
    <button type="button" className="fm-quiet" aria-pressed={isPressed} onClick={onClick}>
      {children}
      {about && <span className="fm-hidden"> {about}</span>}
    </button>
  )
}
