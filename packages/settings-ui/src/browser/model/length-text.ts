/** Lengths of time as people say them. */
const units = [
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** `1 hour`, `2.5 minutes`, `30 seconds` */
export function lengthText(seconds: number, locale: string): string {
  const [unit, size] = units.find(([, least]) => seconds >= least) ?? units[2]
  const style = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(locale, style).format(seconds / size)
}
