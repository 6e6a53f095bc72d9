/** ISO 8601 date-times in the browser's time zone, as `<input type="datetime-local">` holds them. */

/** `local`: an instant, shown in the browser's zone; `floating`: a wall-clock time without a zone. */
export type DateTimeZone = 'local' | 'floating'

const pad = (number: number): string => String(number).padStart(2, '0')

/** `2030-01-01T12:00:00Z` → `2030-01-01T07:00` in New York; without an offset it stays as it is. */
export function toLocal(iso: string): string {
  return shortest(hasOffset(iso) ? localOf(new Date(iso)) : iso.slice(0, 19))
}

/** Shifted by the offset, UTC shows the local time. */
function localOf(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return Number.isNaN(shifted.getTime()) ? '' : shifted.toISOString().slice(0, 19)
}

/** Browsers leave seconds out when there are none. */
function shortest(local: string): string {
  return local.length === 19 && local.endsWith(':00') ? local.slice(0, 16) : local
}

/** Whether an ISO 8601 date-time names an instant. */
export function hasOffset(iso: string): boolean {
  return /(?:Z|[+-]\d\d:\d\d)$/.test(iso)
}

/** The reverse, with the browser's offset at that time unless floating; null if it is no date-time. */
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
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
}

/** `Europe/Paris, UTC+02:00` */
export function zoneName(iso: string | null): string {
  const date = iso === null || iso === '' ? new Date() : new Date(iso)
  return `${new Intl.DateTimeFormat().resolvedOptions().timeZone}, UTC${offsetOf(date)}`
}
