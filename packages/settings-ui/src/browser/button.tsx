/** A button of the pages: its look, its icon, and what it is about for those who cannot see where it stands. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { Icon, type IconName } from './icons.tsx'

const looks = {
  plain: 'fm-button',
  quiet: 'fm-button is-quiet',
  main: 'fm-button is-main',
  danger: 'fm-button is-main is-bad',
  link: 'fm-link',
  name: 'fm-link is-name',
} as const

interface ButtonProps extends ButtonHTMLAttributes {
  /** @default 'plain' */
  readonly look?: keyof typeof looks
  readonly icon?: IconName
  /** What it says; its children may say more. */
  readonly text?: string
  /** Said after that, and not shown. */
  readonly about?: string
}

/** It submits nothing, unless its `type` says so; without a text it is as wide as its icon, and `aria-label` names it. */
export function Button({
  look = 'plain',
  icon,
  text,
  about,
  children,
  ...attributes
}: ButtonProps): ComponentChildren {
  const className = (text ?? children) === undefined ? `${looks[look]} is-icon` : looks[look]
  return (
    <button type="button" className={className} {...attributes}>
      {icon && <Icon name={icon} />}
      {text}
      {children}
      {about !== undefined && <span className="fm-hidden"> {about}</span>}
    </button>
  )
}
