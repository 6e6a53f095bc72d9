/** Moments and lengths of time: as controls hold them, and as people say them. */

/** `local`: an instant, shown in the browser's zone; `floating`: a wall-clock time without a zone. */
export type DateTimeZone = 'local' | 'floating'

/** As `<input type="datetime-local">` holds it: `2030-01-01T12:00:00Z` → `2030-01-01T07:00` in New York; without an offset it stays as it is. */
export function toLocal(iso: string): string {
  const date = new Date(iso)
  // Shifted by the offset, UTC shows the local time.
  const local = hasOffset(iso)
    ? new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString()
    : iso
  return local.slice(0, 19).replace(/(:\d\d):00$/, '$1') // browsers leave seconds out when there are none
}

/** Whether an ISO 8601 date-time names an instant. */
export function hasOffset(iso: string): boolean {
  return /(?:Z|[+-]\d\d:\d\d)$/.test(iso)
}

/** The reverse, with the browser's offset at that time unless floating; null if it is not a date-time. */
export function fromLocal(text: string, zone: DateTimeZone): string | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(text)) return null
  const full = text.length === 16 ? `${text}:00` : text
  if (zone === 'floating') return full
  const date = new Date(full)
  return Number.isNaN(date.getTime()) ? null : full + offsetOf(date)
}

/** `+05:30` */
function offsetOf(date: Date): string {
  const minutes = -date.getTimezoneOffset()
  const size = Math.abs(minutes)
  const parts = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0'))
  return `${minutes < 0 ? '-' : '+'}${parts.join(':')}`
}

/** `Europe/Paris, UTC+02:00`; `UTC` is its own offset. */
export function zoneName(date: Date): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return timeZone === 'UTC' ? timeZone : `${timeZone}, UTC${offsetOf(date)}`
}

/** What a date-time control holds, as people say it: `Thu, 24 Dec 2026, 18:30`. Empty for what is not a date-time. */
export function spokenTime(local: string, locale: string): string {
  const date = new Date(local)
  if (Number.isNaN(date.getTime())) return ''
  const { format } = new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  })
  return format(date)
}

/** Units with their seconds, and how many of the next smaller one people rather say before they use it: "in 33 days". */
const units = [
  ['year', 31_536_000, 2],
  ['month', 2_592_000, 3],
  ['day', 86_400, 1],
  ['hour', 3600, 1],
  ['minute', 60, 1],
] as const

/** `in 33 days`, `2 hours ago`, `now`. */
export function relativeTime(date: Date, locale: string): string {
  const seconds = (date.getTime() - Date.now()) / 1000
  const formats = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const unit = units.find(([, size, least]) => Math.abs(seconds) >= size * least)
  return unit ? formats.format(Math.round(seconds / unit[1]), unit[0]) : formats.format(0, 'second')
}

/** `31 Dec 2030, 12:00` in the language of the page. */
export function displayTime(iso: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso))
}

/** `12 Nov`; of another year `12/11/2025`, which has room beside a button in every language. */
export function displayDate(iso: string, locale: string): string {
  const date = new Date(iso)
  const isOfThisYear = date.getFullYear() === new Date().getFullYear()
  const parts = isOfThisYear ? ({ day: 'numeric', month: 'short' } as const) : undefined
  return new Intl.DateTimeFormat(locale, parts).format(date)
}

/** `12:04`, with the date where it is another one. */
export function timeText(at: Date, locale: string): string {
  if (at.toDateString() !== new Date().toDateString()) return displayTime(at.toISOString(), locale)
  return new Intl.DateTimeFormat(locale, { timeStyle: 'short' }).format(at)
}

/** Units of lengths with their seconds. */
const lengths = [
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** `1 hour`, `2.5 minutes`, `30 seconds` */
export function lengthText(seconds: number, locale: string): string {
  const [unit, size] = lengths.find(([, least]) => seconds >= least) ?? lengths[2]
  const style = { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(locale, style).format(seconds / size)
}
