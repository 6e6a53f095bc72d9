/** Icons that groups of settings, and items of the palette, may have: line icons of 16 px, one path each. */
const paths: Readonly<Record<string, string>> = {
  brush:
    'M8 14A6 6 0 1 1 14 8c0 1.5-1 2.2-2.2 2.2h-1.3c-1.5 0-2 1.2-1 2.5.5.7-.2 1.3-1.5 1.3M5 8.5h.01M6.5 5.2h.01M10 5.2h.01',
  exit: 'M6 2.5H2.5v11H6M10.5 5l3 3-3 3M6 8h7',
  globe: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M2 8h12M8 2c3.5 3.5 3.5 8.5 0 12M8 2c-3.5 3.5-3.5 8.5 0 12',
  mail: 'M2 3.5h12v9H2zM2.2 4 8 8.5 13.8 4',
  note: 'M3.5 2h9v8L9 14H3.5zM9 14v-4h3.5M6 5.5h4M6 8h2',
  plug: 'M5.5 2v3M10.5 2v3M3.5 5h9v2.5a4.5 4.5 0 0 1-9 0zM8 12v2.5',
  plus: 'M8 3v10M3 8h10',
  send: 'M14 2 7 9M14 2 9.5 14 7 9 2 6.5z',
  sliders:
    'M11.7 5a1.7 1.7 0 1 1-3.5 0 1.7 1.7 0 0 1 3.5 0M7.7 11a1.7 1.7 0 1 1-3.5 0 1.7 1.7 0 0 1 3.5 0M2 5h6.2M11.7 5H14M2 11h2.2M7.7 11H14',
  theme: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M8 2v12M8 5h4.5M8 8h6M8 11h4.5',
  users:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.7a2.5 2.5 0 0 1 0 4.6M12 9.7c1.6.6 2.5 2 2.5 3.8',
  wrench:
    'M13.7 4.6 11.5 6.8 9.2 4.5l2.2-2.2a3.7 3.7 0 0 0-4.8 4.8L2.3 11.4a1.6 1.6 0 0 0 2.3 2.3l4.3-4.3a3.7 3.7 0 0 0 4.8-4.8',
}

/** Their names. */
export const groupIcons: readonly string[] = Object.keys(paths)

/** What to draw; undefined for a name that there is not. */
export function groupIcon(name: string | undefined): string | undefined {
  return name !== undefined && Object.hasOwn(paths, name) ? paths[name] : undefined
}
