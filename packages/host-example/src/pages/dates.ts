/** Dates as people say them, in the language of the reader and the time zone of the application. */
import { localeOf } from '../texts/texts.ts'
import type { Look } from '../web/look.ts'

type Place = Pick<Look, 'language' | 'timeZone' | 'preferred'>

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** `4 min ago`, `2 hr ago`, `Thu 19 Nov`; with the year once it is another one. */
export function ago(iso: string, place: Place, now = Date.now()): string {
  const passed = now - Date.parse(iso)
  const relative = new Intl.RelativeTimeFormat(place.language, { numeric: 'auto', style: 'short' })
  if (passed < minute) return relative.format(0, 'second')
  if (passed < hour) return relative.format(-Math.floor(passed / minute), 'minute')
  if (passed < day) return relative.format(-Math.floor(passed / hour), 'hour')
  const isRecent = passed < 300 * day
  return new Date(iso).toLocaleDateString(localeOf(place), {
    timeZone: place.timeZone,
    day: 'numeric',
    month: 'short',
    ...(isRecent ? { weekday: 'short' } : { year: 'numeric' }),
  })
}

/** `Thursday, 19 November 2026 at 18:30`. */
export function fully(iso: string, place: Place): string {
  return new Date(iso).toLocaleString(localeOf(place), {
    timeZone: place.timeZone,
    dateStyle: 'full',
    timeStyle: 'short',
  })
}

/** Units, and how many of the next smaller one people rather say before they use it: the settings pages say the same. */
const units = [
  ['month', 30 * day, 3],
  ['day', day, 1],
  ['hour', hour, 1],
] as const

/** `in 33 days`; null for what is past. */
export function until(iso: string, { language }: Place, now = Date.now()): string | null {
  const left = Date.parse(iso) - now
  if (left <= 0) return null
  const [unit, size] = units.find(([, ms, least]) => left >= ms * least) ?? (['minute', minute] as const)
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(Math.round(left / size), unit)
}

/** `Saturday 21 November`. */
export function today(place: Place): string {
  return new Date().toLocaleDateString(localeOf(place), {
    timeZone: place.timeZone,
    weekday: 'long',
    day: 'numeric',
    month: 'long',
  })
}

/** 0 in the morning, 1 in the afternoon, 2 in the evening. */
export function partOfDay({ timeZone }: Place): number {
  const hours = Number(
    new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(new Date()),
  )
  return hours < 12 ? 0 : hours < 18 ? 1 : 2
}
