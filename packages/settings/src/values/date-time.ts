/** ISO 8601 date-times (S 2.3, decision 8). `Date.parse` would take `1` and the 30th of February. */

const grammar =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/

/** The grammar without the calendar, for JSON Schema. */
export const dateTimePattern = grammar.source

/** Whether the text is `YYYY-MM-DDTHH:mm[:ss[.f]]`, with or without an offset, of a day that exists. */
export function isDateTime(text: string): boolean {
  const match = grammar.exec(text)
  if (!match) return false
  const [year, month, day] = match.slice(1, 4).map(Number)
  if (year === undefined || month === undefined || day === undefined) return false
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}
