/** "Keep these changes?": what waits to be kept, how long, and what can be done about it. */
import { SettingType, type SettledChange } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { format, plural } from '../../texts/messages.ts'
import { Button } from '../button.tsx'
import { FoldedEntries } from '../diff/entry-diff.tsx'
import { Icon } from '../icons.tsx'
import { type EditorState, firstOf, type Waiting } from '../model/editor-state.ts'
import { toInput } from '../model/input.ts'
import { type Definition, displayValue, toDefault } from '../model/setting.ts'
import { type PageContext, useEditor, useMayChange, usePage } from '../page-context.ts'
import { lengthText, timeText } from '../model/times.ts'
import type { Section } from '../view/use-results.ts'

interface OpenChangesProps {
  /** Those of the page; a change stands in the first that it has a setting of. */
  readonly sections: readonly Section[]
  /** @default for changes that stand in none of them */
  readonly section?: Section
}

export function OpenChanges({ sections, section }: OpenChangesProps): ComponentChildren {
  const open = useEditor((state) => state.open)
  const placeOf = ({ entries }: Waiting): Section | undefined =>
    sections.find(({ group }) =>
      group.definitions.some(({ key }) => entries.some((entry) => entry.key === key)),
    )
  return open
    .filter((change) => placeOf(change) === section)
    .map((change) => <OpenNotice key={change.revision} change={change} />)
}

/** Seconds that are left when the look of the notice says so, and when it is said again. */
const last = 20
const late = 30

function OpenNotice({ change }: { readonly change: Waiting }): ComponentChildren {
  const { messages, locale } = usePage()
  const { actor, entries, hidden, due } = change
  const { people, byKey } = useEditor((state) => state)
  const left = useSecondsLeft(change)
  const mayChange = useMayChange(...entries.map(({ key }) => byKey.get(key)))
  useWarnings(change, left)
  const isLast = left <= last
  return (
    <section
      className={`fm-notice fm-line fm-keep ${isLast ? 'is-bad' : 'is-warn'}`}
      aria-label={messages.keepTitle}
    >
      <Ring share={(left * 1000) / change.total} />
      <div>
        <h3>
          {messages.keepTitle} <time aria-hidden="true">{clockText(left)}</time>
        </h3>
        <p className="fm-small" dir="auto">
          {plural(isLast ? messages.keepLast : messages.keepHint, entries.length + hidden, locale, {
            who: people.get(actor ?? '') ?? actor ?? messages.somebody,
            time: timeText(new Date(due), locale),
          })}
        </p>
        <FoldedEntries entries={entries} summary={messages.showWhat}>
          {hidden > 0 && <p className="fm-small">{plural(messages.keepHidden, hidden, locale)}</p>}
        </FoldedEntries>
      </div>
      {mayChange && hidden === 0 && <Answers change={change} left={left} />}
    </section>
  )
}

interface AnswersProps {
  readonly change: Waiting
  /** Seconds. */
  readonly left: number
}

/** Seconds that a change may wait from its write on, and the least that it is given more. */
const day = 86_400
const least = 60

function Answers({ change, left }: AnswersProps): ComponentChildren {
  const { api, editor, messages } = usePage()
  const { revision, entries, at, due } = change
  // As much again, each time, as there was when the notice was first shown.
  const [more] = useState(Math.max(least, Math.round(change.total / 1000)))
  const waits = (Date.parse(due) - Date.parse(at)) / 1000

  async function answer(act: () => Promise<unknown>): Promise<void> {
    try {
      await act()
    } catch (error) {
      editor.say({ kind: 'bad', text: editor.explain(error) })
    }
    await editor.readOpen()
    // The buttons go with what they are about.
    editor.arrive((state) => ({
      ...state,
      focus: firstOf(
        state,
        entries.map(({ key }) => key),
      ),
    }))
  }

  return (
    <div className="fm-buttons fm-line">
      {waits + least <= day && (
        <Button
          look={left <= last ? 'plain' : 'quiet'}
          onClick={() => void answer(() => api.keep(revision, { within: Math.min(day, left + more) }))}
          text={messages.moreTime}
        />
      )}
      <Button onClick={() => void answer(() => editor.revert(revision))} text={messages.putBackNow} />
      <Button look="main" onClick={() => void answer(() => api.keep(revision))} text={messages.keep} />
    </div>
  )
}

/** Whole seconds until a change is due; 0 until it is known what became of it. */
function useSecondsLeft({ ends }: Waiting): number {
  const [, drawAgain] = useState({})
  const left = Math.max(0, ends - performance.now())
  useEffect(() => {
    if (left === 0) return undefined
    const timer = setTimeout(() => drawAgain({}), left % 1000 || 1000)
    return () => clearTimeout(timer)
  })
  return Math.ceil(left / 1000)
}

/** Says how long there is: at first, at half of it, and twice before the end (WCAG 2.2.1). */
function useWarnings({ entries, hidden, total, due }: Waiting, left: number): void {
  const { editor, messages, locale } = usePage()
  const step = [total / 2000, late, last].filter((seconds) => left <= seconds).length
  const [begun] = useState(step)
  const group = useEditor(({ byKey }) => {
    const names = new Set(entries.flatMap(({ key }) => byKey.get(key)?.group ?? []))
    return new Intl.ListFormat(locale).format(names)
  })
  useEffect(() => {
    const sentence = step === 0 || step === begun ? messages.keepSoon : messages.keepSooner
    const text = plural(sentence, entries.length + hidden, locale, {
      time: lengthText(left, locale),
      group: group || messages.general,
    })
    editor.announce(text)
  }, [step, due])
}

/** `4:32`, `1:04:32` */
function clockText(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const [first, ...rest] = parts[0] === 0 ? parts.slice(1) : parts
  return [first, ...rest.map((part) => String(part).padStart(2, '0'))].join(':')
}

/** How much is left of the time; in four steps where nothing shall move. */
function Ring({ share }: { readonly share: number }): ComponentChildren {
  const steps = matchMedia('(prefers-reduced-motion: reduce)').matches ? 4 : 100
  const shown = Math.min(100, (Math.ceil(share * steps) / steps) * 100)
  return (
    <svg className="fm-i" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" opacity="0.25" />
      <circle
        cx="8"
        cy="8"
        r="6"
        pathLength="100"
        stroke-dasharray={`${shown} 100`}
        transform="rotate(-90 8 8)"
      />
    </svg>
  )
}

/** Beside the name of a setting whose change waits to be kept. */
export function OpenPill({ definition }: { readonly definition: Definition }): ComponentChildren {
  const { messages } = usePage()
  const { key, sensitive, type } = definition
  const entry = useEditor(({ open }) =>
    open.flatMap(({ entries }) => entries).find((each) => each.key === key),
  )
  if (!entry) return null
  const before = entry.oldValue ?? toDefault(definition)
  const isShown = !sensitive && type !== SettingType.Json
  const value = displayValue(definition, before, messages)
  return (
    <span className="fm-pill is-warn">
      <Icon name="clock" />
      <span dir="auto">{isShown ? format(messages.notKeptWas, { value }) : messages.notKept}</span>
    </span>
  )
}

/** Says what became of a change that waited to be kept. */
export function saySettled(
  { editor, messages, locale }: Pick<PageContext, 'editor' | 'messages' | 'locale'>,
  change: SettledChange,
  isInTime: boolean,
): void {
  const { state, entries, reasons, due } = change
  const count = entries.length
  if (state === 'kept') return editor.say({ kind: 'done', text: plural(messages.keptNow, count, locale) })
  void editor.refresh()
  if (state === 'conflicted') {
    const texts = Object.entries(reasons).map(([key, reason]) => `${editor.nameOf(key)}: ${reason}`)
    const text = plural(messages.notPutBack, texts.length || count, locale)
    return editor.say({ kind: 'warn', text, hint: texts.join(' ') })
  }
  const hint = format(messages.nobodyKept, { time: timeText(new Date(due), locale) })
  const inputs = inputsOf(editor.state, entries)
  const action = { text: messages.changeAgain, run: () => editor.enter(inputs) }
  editor.say({
    kind: 'undone',
    text: plural(messages.undone, count, locale),
    ...(!isInTime && { hint, ...(Object.keys(inputs).length > 0 && { action }) }),
  })
}

/** What was entered, without secrets. */
function inputsOf({ byKey }: EditorState, entries: SettledChange['entries']) {
  const shown = entries.flatMap(({ key, newValue, isOverridden }) => {
    const definition = byKey.get(key)
    if (!definition || definition.sensitive || !isOverridden) return []
    return [[key, toInput(definition, newValue)] as const]
  })
  return Object.fromEntries(shown)
}
