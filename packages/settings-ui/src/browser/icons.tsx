/** Line icons of 16 px: one path each, drawn in the colour of the text around them. */
import type { ComponentChildren } from 'preact'

const paths = {
  alert: 'M8 2 1.5 13.5h13zM8 6.5v3M8 11.5h.01',
  bin: 'M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.6L12 4',
  calendar: 'M2.5 4h11v9.5h-11zM2.5 7h11M5.2 2v3M10.8 2v3',
  check: 'm3 8.5 3.2 3.2L13 4.7',
  chevron: 'm4 6 4 4 4-4',
  clock: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M8 4.7V8l2.2 1.5',
  close: 'm4 4 8 8M12 4l-8 8',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  down: 'M8 2v8M4.7 7 8 10.2 11.3 7M2.5 13.5h11',
  eye: 'M2 8s2-4 6-4 6 4 6 4-2 4-6 4-6-4-6-4M8 8v.01',
  filter: 'M2 4h12M4.5 8h7M7 12h2',
  key: 'M9.7 9.2a3.5 3.5 0 1 0-3-3l-4.2 4.3v3h3V12H7v-1.5h1.5zM11 5h.01',
  link: 'M6.5 9.5a2.7 2.7 0 0 0 4 .2l2.2-2.2a2.8 2.8 0 0 0-4-4L7.6 4.6M9.5 6.5a2.7 2.7 0 0 0-4-.2L3.3 8.5a2.8 2.8 0 0 0 4 4l1.1-1.1',
  lock: 'M5 7V5a3 3 0 0 1 6 0v2M3.5 7h9v6.5h-9z',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  open: 'M9 2.5h4.5V7M13.5 2.5l-6 6M11.5 9.5v4h-9v-9h4',
  plug: 'M5.5 2v3M10.5 2v3M3.5 5h9v2.5a4.5 4.5 0 0 1-9 0zM8 12v2.5',
  plus: 'M8 3v10M3 8h10',
  reset: 'M2.5 3v3.5H6M2.8 6.5a5.5 5.5 0 1 1-.2 2.8',
  ring: 'M8 2a6 6 0 1 1-6 6',
  search: 'M10.9 10.9 14 14M12.5 7.2a5.2 5.2 0 1 1-10.5 0 5.2 5.2 0 0 1 10.5 0',
  to: 'M2.5 8h11M9.5 4l4 4-4 4',
  users:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.7a2.5 2.5 0 0 1 0 4.6M12 9.7c1.6.6 2.5 2 2.5 3.8',
  up: 'M8 10.5v-8M4.7 5.5 8 2.2l3.3 3.3M2.5 13.5h11',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { readonly name: IconName }): ComponentChildren {
  return <Drawing path={paths[name]} />
}

export function Drawing({ path }: { readonly path: string }): ComponentChildren {
  return (
    <svg className="fm-i" viewBox="0 0 16 16" aria-hidden="true">
      <path d={path} />
    </svg>
  )
}
