/** `500 → 800 · Eli, just now`: what somebody else has changed, on the line of the label. */
import type { ComponentChildren } from 'preact'
import { format } from '../../texts/messages.ts'
import type { News } from '../model/editor-state.ts'
import { type Definition, displayTime, type SettingValue, shortValues } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { justNow } from '../model/news.ts'

interface NewsTextProps {
  readonly definition: Definition
  readonly value: SettingValue
  readonly news: News
}

export function NewsText({ definition, value, news: { from, by, at } }: NewsTextProps): ComponentChildren {
  const { messages, locale } = usePage()
  const name = useEditor(({ people }) => by && (people.get(by) ?? by))
  const texts = shortValues(definition, [from.value, value.value], messages)
  const what = texts
    ? format(messages.fromTo, { from: isolate(texts[0]), to: isolate(texts[1]) })
    : messages.secretChanged
  const time = Date.now() - at < justNow ? messages.justNow : timeText(new Date(at), locale)
  return `${what} · ${name ? format(messages.byAt, { name: isolate(name), time }) : time}`
}

/** In the direction of its own language. */
function isolate(text = ''): string {
  return `\u2068${text}\u2069`
}

/** `12:04`, with the date where it is another one. */
function timeText(at: Date, locale: string): string {
  if (at.toDateString() !== new Date().toDateString()) return displayTime(at.toISOString(), locale)
  return new Intl.DateTimeFormat(locale, { timeStyle: 'short' }).format(at)
}
