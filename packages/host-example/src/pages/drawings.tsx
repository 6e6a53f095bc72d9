/** Icons, the logo and the pictures of error pages as elements. */
import type { ReactNode } from 'react'
import { type IconName, icons, logoOf, logoTile, pictureOf, type Stroke } from '../web/strokes.ts'

export function Icon({ name }: { name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={icons[name]} />
    </svg>
  )
}

export function Logo({ name }: { name: string }): ReactNode {
  return (
    <svg className="logo" viewBox="0 0 24 24" aria-hidden="true">
      <path className="tile" d={logoTile} />
      <Strokes list={logoOf(name)} />
    </svg>
  )
}

export function Picture({ status }: { status: number }): ReactNode {
  return (
    <svg className="picture" viewBox="0 0 200 120" aria-hidden="true">
      <Strokes list={pictureOf(status)} />
    </svg>
  )
}

function Strokes({ list }: { list: readonly Stroke[] }): ReactNode {
  return list.map(([look, d]) => <path key={d} className={look} d={d} />)
}

/** The letters that stand for a person. */
export function Face({ id, name }: { id: string; name: string }): ReactNode {
  return (
    <span className={`face face-${id}`} aria-hidden="true">
      {name.slice(0, 2).toUpperCase()}
    </span>
  )
}
