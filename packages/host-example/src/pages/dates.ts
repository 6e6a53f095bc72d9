/** Dates as people say them, in the language of the reader and the time zone of the application. */
import type { Look } from '../web/look.ts'

type Place = Pick<Look, 'language' | 'timeZone'>

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** `4 min ago`, `2 hr ago`, `Thu 19 Nov`; with the year once it is another one. */
export function ago(iso: string, { language, timeZone }: Place, now = Date.now()): string {
  const passed = now - Date.parse(iso)
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' })
  if (passed < minute) return relative.format(0, 'second')
  if (passed < hour) return relative.format(-Math.floor(passed / minute), 'minute')
  if (passed < day) return relative.format(-Math.floor(passed / hour), 'hour')
  const isRecent = passed < 300 * day
  return new Date(iso).toLocaleDateString(language, {
    timeZone,
    day: 'numeric',
    month: 'short',
    ...(isRecent ? { weekday: 'short' } : { year: 'numeric' }),
  })
}

/** `Thursday, 19 November 2026 at 18:30`. */
export function fully(iso: string, { language, timeZone }: Place): string {
  return new Date(iso).toLocaleString(language, { timeZone, dateStyle: 'full', timeStyle: 'short' })
}

/** `in 33 days`; null for what is past. */
export function until(iso: string, { language }: Place, now = Date.now()): string | null {
  const left = Date.parse(iso) - now
  if (left <= 0) return null
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  return left < day
    ? relative.format(Math.ceil(left / hour), 'hour')
    : relative.format(Math.ceil(left / day), 'day')
}

/** `Saturday 21 November`. */
export function today({ language, timeZone }: Place): string {
  return new Date().toLocaleDateString(language, { timeZone, weekday: 'long', day: 'numeric', month: 'long' })
}

/** 0 in the morning, 1 in the afternoon, 2 in the evening. */
export function partOfDay({ timeZone }: Place): number {
  const hours = Number(
    new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(new Date()),
  )
  return hours < 12 ? 0 : hours < 18 ? 1 : 2
}
