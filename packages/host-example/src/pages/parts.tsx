/** Parts that several pages have. */
import type { ReactNode } from 'react'
import type { Look } from '../web/look.ts'
import { ago, fully, until } from './dates.ts'
import { Face, Icon } from './drawings.tsx'
import { useShared, useTexts } from './shared.ts'

interface HeadProps {
  readonly title: ReactNode
  readonly lead: ReactNode
  /** What can be done from here. */
  readonly children?: ReactNode
}

/** What a page is, at its top. What it says of the time may be older than the browser's. */
export function Head({ title, lead, children }: HeadProps): ReactNode {
  return (
    <div className="row head">
      <div>
        <h1 suppressHydrationWarning>{title}</h1>
        <p className="small" suppressHydrationWarning>
          {lead}
        </p>
      </div>
      {children}
    </div>
  )
}

interface PartProps {
  readonly title: string
  /** Where there is more of it. */
  readonly href: string
  readonly link: string
  readonly children: ReactNode
}

/** A part of a page under a heading of its own. */
export function Part({ title, href, link, children }: PartProps): ReactNode {
  return (
    <section>
      <div className="row part">
        <h2>{title}</h2>
        <a href={href}>{link}</a>
      </div>
      {children}
    </section>
  )
}

/** How long ago it was. */
export function Ago({ at, title }: { at: string; title?: string | undefined }): ReactNode {
  const { app } = useShared()
  return (
    <time className="small" dateTime={at} title={title} suppressHydrationWarning>
      {app ? ago(at, app) : null}
    </time>
  )
}

/** Somebody, with a face. */
export function Person({ id, name }: { id: string; name: string }): ReactNode {
  return (
    <span className="row person">
      <Face id={id} name={name} />
      <bdi>{name}</bdi>
    </span>
  )
}

/** Marks a shared note. */
export function SharedPill(): ReactNode {
  return (
    <span className="pill is-good">
      <Icon name="link" />
      {useTexts().shared}
    </span>
  )
}

/** When the application opens, or since when it is open. */
export function Launch({ app, at }: { app: Look; at: string }): ReactNode {
  const texts = useTexts()
  const left = until(at, app)
  return (
    <p className="launch">
      <span className="pill is-good" suppressHydrationWarning>
        {left ?? texts.openSince}
      </span>{' '}
      {left === null ? null : `${texts.opens} `}
      <time dateTime={at} suppressHydrationWarning>
        {fully(at, app)}
      </time>
    </p>
  )
}
