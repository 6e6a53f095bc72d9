/** What somebody else has changed: `500 → 800 · Eli, just now` on the line of the label, and faces where the row is not in view. */
import type { ComponentChildren } from 'preact'
import { format } from '../../texts/messages.ts'
import type { News } from '../model/editor-state.ts'
import { type Definition, type SettingValue, shortValues } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { justNow } from '../model/news.ts'
import { Face } from '../face.tsx'
import { timeText } from '../model/times.ts'

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

/** The face of a person whose id is known. */
export function NewsFace({ id }: { readonly id: string }): ComponentChildren {
  const name = useEditor(({ people }) => people.get(id))
  return <Face id={id} name={name} isSmall />
}

/** The ids of those who have changed something just now, the last one first; of the callers that learn of others. */
function useRecent(keys: readonly string[] | undefined): readonly string[] {
  const { editor, canUpdate } = usePage()
  const ids = useEditor(({ news }) =>
    [...news]
      .filter(([key, { at }]) => (keys?.includes(key) ?? true) && Date.now() - at < justNow)
      .flatMap(([, { by }]) => by ?? [])
      .toReversed()
      .join('\n'),
  )
  const isShown = canUpdate && !editor.isOwn && ids !== ''
  return isShown ? [...new Set(ids.split('\n'))] : []
}

interface RecentProps {
  /** Of these settings, at the end of their group in the list: faces alone. @default of all, in words, too, above the settings */
  readonly keys?: readonly string[]
}

/** Up to two faces, and what their owners have done. */
export function Recent({ keys }: RecentProps): ComponentChildren {
  const { messages, locale } = usePage()
  const ids = useRecent(keys)
  const names = useEditor(({ people }) => ids.map((id) => people.get(id) ?? id).join('\n'))
  if (ids.length === 0) return null
  const who = new Intl.ListFormat(locale).format(names.split('\n').map((name) => isolate(name)))
  const faces = ids.slice(0, 2).map((id) => <NewsFace key={id} id={id} />)
  return keys ? (
    <span className="fm-push fm-faces">
      <span className="fm-hidden">{format(messages.changedBy, { who })}</span>
      {faces}
    </span>
  ) : (
    <p className="fm-small fm-aside">
      <span className="fm-faces">{faces}</span>
      {format(messages.changedJustNow, { who })}
    </p>
  )
}
