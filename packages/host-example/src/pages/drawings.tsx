/** Icons, the logo and the pictures of error pages as elements. */
import { hueOf } from '@fastify-modular/settings-ui/stage'
import type { ReactNode } from 'react'
import drawings from '../web/drawings.json' with { type: 'json' }

/** The paths of a drawing, each with the class that gives it its look. */
type Strokes = readonly (readonly string[])[]

/** By the values of the setting `app.logo`; 24 × 24, on a tile in the accent. */
const logos: Readonly<Record<string, Strokes>> = drawings.logos

/** A door and the wrong key, a trail that leads off the map, an hourglass, a cracked cup, a sign in a shop window; 200 × 120. */
const pictures: Readonly<Record<number, Strokes>> = drawings.pictures

export function Icon({ name }: { name: keyof typeof drawings.icons }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={drawings.icons[name]} />
    </svg>
  )
}

export function Logo({ name }: { name: string }): ReactNode {
  return (
    <svg className="logo" viewBox="0 0 24 24" aria-hidden="true">
      <path className="tile" d={drawings.tile} />
      <Drawing strokes={logos[name]} />
    </svg>
  )
}

export function Picture({ status }: { status: number }): ReactNode {
  return (
    <svg className="picture" viewBox="0 0 200 120" aria-hidden="true">
      <Drawing strokes={pictures[status] ?? pictures[status < 500 ? 404 : 500]} />
    </svg>
  )
}

function Drawing({ strokes = [] }: { strokes: Strokes | undefined }): ReactNode {
  return strokes.map(([look, d]) => <path key={d} className={look} d={d} />)
}

/** The letters that stand for a person, in the colour that this person has on the settings pages. */
export function Face({ id, name }: { id: string; name: string }): ReactNode {
  return (
    <span className="face" aria-hidden="true" data-hue={hueOf(id)}>
      {name.slice(0, 2).toUpperCase()}
    </span>
  )
}
