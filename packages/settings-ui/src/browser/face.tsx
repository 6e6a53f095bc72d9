/** The face of a person, where their name stands beside it. */
import type { ComponentChildren } from 'preact'
import { hueOf, initialsOf } from '../people.ts'

interface FaceProps {
  readonly id: string
  /** @default the id, where no name is known */
  readonly name: string | undefined
  /** As high as a line of text: one letter. */
  readonly isSmall?: boolean
}

export function Face({ id, name = id, isSmall = false }: FaceProps): ComponentChildren {
  return (
    <span className="fm-face" aria-hidden="true" data-hue={hueOf(id)}>
      {initialsOf(name).slice(0, isSmall ? 1 : 2)}
    </span>
  )
}
