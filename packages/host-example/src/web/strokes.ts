/** Line drawings as data. */

/** A path, and the class that gives it its look. */
export type Stroke = readonly [look: string, d: string]

/** 16 × 16, stroked. */
export const icons = {
  plus: 'M8 3v10M3 8h10',
  note: 'M3.5 2h9v8L9 14H3.5zM9 14v-4h3.5M6 5.5h4M6 8h2',
  link: 'M6.5 9.5a2.7 2.7 0 0 0 4 .2l2.2-2.2a2.8 2.8 0 0 0-4-4l-1.1 1.1M9.5 6.5a2.7 2.7 0 0 0-4-.2L3.3 8.5a2.8 2.8 0 0 0 4 4l1.1-1.1',
  unlink:
    'M6.5 9.5a2.7 2.7 0 0 0 4 .2l2.2-2.2a2.8 2.8 0 0 0-4-4M9.5 6.5a2.7 2.7 0 0 0-4-.2L3.3 8.5a2.8 2.8 0 0 0 4 4M2 2l12 12',
  open: 'M9 2.5h4.5V7M13.5 2.5l-6 6M11.5 9.5v4h-9v-9h4',
  bin: 'M2.5 4h11M6 4V2.5h4V4M4 4l.7 9.5h6.6L12 4',
  search: 'M10.9 10.9 14 14M12.5 7.2a5.2 5.2 0 1 1-10.5 0 5.2 5.2 0 0 1 10.5 0',
  close: 'm4 4 8 8M12 4l-8 8',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  eye: 'M1.5 8S4 3.7 8 3.7 14.5 8 14.5 8 12 12.3 8 12.3 1.5 8 1.5 8M9.9 8a1.9 1.9 0 1 1-3.8 0 1.9 1.9 0 0 1 3.8 0',
  box: 'M3 3h10v10H3z',
  check: 'm3 8.5 3.2 3.2L13 4.7',
  alert: 'M8 2 1.5 13.5h13zM8 6.5v3M8 11.5h.01',
  arrow: 'M2.5 8h11M9.5 4l4 4-4 4',
  mail: 'M2 3.5h12v9H2zM2.2 4 8 8.5 13.8 4',
  sliders:
    'M11.7 5a1.7 1.7 0 1 1-3.5 0 1.7 1.7 0 0 1 3.5 0M7.7 11a1.7 1.7 0 1 1-3.5 0 1.7 1.7 0 0 1 3.5 0M2 5h6.2M11.7 5H14M2 11h2.2M7.7 11H14',
  out: 'M6 2.5H2.5v11H6M10.5 5l3 3-3 3M6 8h7',
} as const
export type IconName = keyof typeof icons

/** 24 × 24, on a tile in the accent: `ink` is filled, `fold` in a lighter shade. */
const logos: Readonly<Record<string, readonly Stroke[]>> = {
  note: [
    ['ink', 'M7 6.5h10v7L13.5 17H7z'],
    ['fold', 'M13.5 17v-3.5H17z'],
  ],
  leaf: [
    ['ink', 'M6.5 17.5C5 10 10 6 18 6c.5 8-3.5 12.5-10 11z'],
    ['vein', 'M6 18.5c2-4 4.5-6.5 8-8.5'],
  ],
  bolt: [['ink', 'M13.5 5 7 13.5h4L10.5 19 17 10.5h-4z']],
  wave: [
    ['line', 'M5.5 10c2-2.5 4.3-2.5 6.5 0s4.5 2.5 6.5 0'],
    ['line', 'M5.5 15c2-2.5 4.3-2.5 6.5 0s4.5 2.5 6.5 0'],
  ],
}

/** The strokes of a value of the setting `app.logo`. */
export function logoOf(name: string): readonly Stroke[] {
  return logos[name] ?? []
}

/** The tile below a logo, 24 × 24. */
export const logoTile =
  'M6.5 0h11A6.5 6.5 0 0 1 24 6.5v11a6.5 6.5 0 0 1-6.5 6.5h-11A6.5 6.5 0 0 1 0 17.5v-11A6.5 6.5 0 0 1 6.5 0'

const ground = ['thin', 'M24 104h152'] as const

/** 200 × 120: `thin` lines, filled `body`, the accent as `accent`, `trail` and `dot`. */
const pictures: Readonly<Record<number, readonly Stroke[]>> = {
  // a door with a keyhole, and the wrong key on the floor
  403: [
    ground,
    ['body', 'M74 104V18h52v86'],
    ['thin', 'M82 104V27h36v77M90 36h20v22H90zM90 47h20'],
    ['dot', 'M114 70a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0'],
    ['trail', 'M128 98h8'],
    ['accent', 'M152 97a6 6 0 1 1-12 0 6 6 0 0 1 12 0M152 97h17v5M162 97v4'],
    ['body', 'm36 104-3-15h20l-3 15z'],
    ['thin', 'M43 89V68M43 82c-1-8-6-10-11-10 0 7 4 11 11 10M43 77c1-9 6-12 11-13 1 8-3 13-11 13'],
  ],
  // a folded map whose trail leads off the paper
  404: [
    ['thin', 'M24 102h152'],
    ['body', 'M40 34l30-10 30 10 30-10v66l-30 10-30-10-30 10z'],
    ['thin', 'M70 24v66M100 34v66'],
    ['trail', 'M52 78c10-20 20 2 30-16s26-14 40-4 20 12 36 6'],
    ['dot', 'M55.5 79a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0'],
    ['accent', 'M158 36c0-5 3-8 7-8s7 3 7 6.5c0 5.5-7 5.5-7 11M165 53v.1'],
  ],
  // an hourglass
  429: [
    ground,
    ['body', 'M76 20h48M76 104h48M82 20c0 26 12 30 12 42s-12 16-12 42M118 20c0 26-12 30-12 42s12 16 12 42'],
    ['accent', 'M88 40h24M90 96c2-8 18-8 20 0'],
    ['trail', 'M100 52v34'],
  ],
  // a cracked cup
  500: [
    ['thin', 'M30 104h140'],
    ['body', 'M66 48h44v30a14 14 0 0 1-14 14H80a14 14 0 0 1-14-14z'],
    ['thin', 'M110 56h8a9 9 0 0 1 0 18h-8M74 94h28'],
    ['accent', 'm88 48-5 12 9 6-6 12 5 14'],
    ['trail', 'M92 102c10-6 22-5 30-2s20 4 32 2'],
    ['thin', 'M78 38c-4-6 4-8 0-14M92 38c-4-6 4-8 0-14'],
  ],
  // a sign in a shop window
  503: [
    ground,
    ['body', 'M46 18h108v72H46z'],
    ['thin', 'M46 34h108M58 26h.1M66 26h.1M74 26h.1'],
    ['thin', 'm80 56 20-14 20 14'],
    ['accent', 'M74 56h52v20H74zM84 66h10M100 66h16'],
    ['body', 'M60 90v14M140 90v14'],
    ['trail', 'M60 104h80'],
  ],
}

/** The drawing of an error page. */
export function pictureOf(status: number): readonly Stroke[] {
  return pictures[status] ?? pictures[status < 500 ? 404 : 500] ?? []
}
