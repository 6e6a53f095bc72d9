/** When something was or will be, as short as it is clear. */
import { displayTime } from '../model/setting.ts'

/** `12:04`, with the date where it is another one. */
export function timeText(at: Date, locale: string): string {
  if (at.toDateString() !== new Date().toDateString()) return displayTime(at.toISOString(), locale)
  return new Intl.DateTimeFormat(locale, { timeStyle: 'short' }).format(at)
}
