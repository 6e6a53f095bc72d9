/** What `<fm-palette>` shows: own preferences, changed in place; shared settings, which open their page; items of the host. */
import { createSettingsClient, SettingScope, SettingType } from '@fastify-modular/settings/client'
import { type ComponentChildren, Fragment, render } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PageConfig } from '../document.ts'
import type { PaletteItem } from '../palette-item.ts'
import { format, type Messages, plural } from '../texts/messages.ts'
import { Button } from './button.tsx'
import { load } from './content.ts'
import { isSegmented, Segments } from './controls/choices.tsx'
import { groupIcon } from '../group-icons.ts'
import { Drawing, Icon } from './icons.tsx'
import { SettingsEditor } from './model/editor.ts'
import { groupName } from './model/listing.ts'
import { createSearch, type Found, type Hit } from './model/search.ts'
import { type Definition, displayValue, optionsOf } from './model/setting.ts'
import { createAccess, ownSource, sharedSource } from './model/source.ts'
import { keepDrafts } from './kept-draft.ts'
import { highlight } from './view/highlight.ts'
import { useExternal } from './use-external.ts'

type FindItems = (query: string) => readonly PaletteItem[] | Promise<readonly PaletteItem[]>

/** What the host says. */
interface Offer {
  readonly items: FindItems
  /** What its field asks for. @default settings */
  readonly label?: string | undefined
}

/** Settings of each kind that are listed. */
const most = 5

const here = import.meta.url

/** The pages stand beside this script. */
const addressOf = (page: string): string => new URL(`../${page}`, here).href

/** Values are read when it opens, and forgotten when it closes. */
export async function showPalette(root: ShadowRoot, { items, label }: Offer): Promise<void> {
  if (root.querySelector('dialog')) return
  const { config, texts, sheets } = await load(addressOf('preferences.json'))
  const messages = { ...texts, ...(label !== undefined && { search: label }) }
  const { locale, baseUrl, definitionsLocale, groups = {} } = config
  const api = createSettingsClient(createAccess({ baseUrl }, () => definitionsLocale))
  const [own, shared] = [ownSource(api), sharedSource(api)].map(
    (source) =>
      new SettingsEditor(
        source,
        () => ({ messages, locale }),
        () => undefined,
      ),
  )
  if (!own || !shared) return
  root.adoptedStyleSheets = sheets
  const place = document.createElement('div')
  place.lang = locale
  place.dir = config.direction
  root.replaceChildren(place)
  const close = (): void => {
    render(null, place)
    place.remove()
  }
  render(<Palette {...{ own, shared, items, messages, locale, groups, close }} />, place)
  await Promise.all([own.load(), shared.load()])
}

/** What texts are made of. */
interface Words {
  readonly messages: Messages
  readonly groups: NonNullable<PageConfig['groups']>
}

interface PaletteProps extends Words {
  readonly own: SettingsEditor
  readonly shared: SettingsEditor
  readonly items: FindItems
  readonly locale: string
  readonly close: () => void
}

function Palette({ own, shared, items, locale, close, ...words }: PaletteProps): ComponentChildren {
  const { messages } = words
  const dialog = useRef<HTMLDialogElement>(null)
  const [query, setQuery] = useState('')
  const [offered, setOffered] = useState<readonly PaletteItem[]>([])
  const mine = useFound(own, query, words, ({ scope }) => scope === SettingScope.User)
  const ours = useFound(shared, query, words, ({ scope }) => scope !== SettingScope.User)
  useEffect(() => highlight(dialog.current, mine.words))
  useLayoutEffect(() => {
    dialog.current?.showModal()
    dialog.current?.querySelector('input')?.focus()
  }, [])
  useEffect(() => {
    let isGone = false
    void Promise.resolve(items(query)).then((found) => !isGone && setOffered(found))
    return () => void (isGone = true)
  }, [query])

  /** Up and down walk the rows, whatever is in them; a letter goes to the field. */
  function walk(event: KeyboardEvent): void {
    const stops = [
      ...(dialog.current?.querySelectorAll<HTMLElement>(
        'input:is([role=searchbox], :checked), .fm-hits :is(a, button)',
      ) ?? []),
    ]
    const focused = stops.indexOf(event.target as HTMLElement) // of the dialog
    const next = { ArrowDown: focused + 1, ArrowUp: focused - 1 }[event.key]
    if (next !== undefined) {
      event.preventDefault()
      stops.at(next % stops.length)?.focus()
    } else if (event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey)
      stops[0]?.focus()
  }

  const quit = (): void => dialog.current?.close()
  const rows = [
    ...mine.hits.map((hit) => ownRow(hit, own, words)),
    ...ours.hits.map((hit) => sharedRow(hit, shared, words)),
    ...offered.map((item) => hostRow(item, quit)),
  ]
  const sections = [...new Set(rows.map(({ group = '' }) => group))]
  return (
    <dialog
      className="fm fm-dialog fm-palette"
      ref={dialog}
      aria-label={messages.search}
      onClose={close}
      onKeyDown={walk}
    >
      <div className="fm-ask fm-line" role="search">
        <Icon name="search" />
        <input
          className="fm-bare"
          role="searchbox" // of the type `search`, Escape would empty it and not close
          inputMode="search"
          aria-label={messages.search}
          placeholder={messages.search}
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
        <button className="fm-button is-quiet" type="button" aria-label={messages.close} onClick={quit}>
          <kbd />
        </button>
      </div>
      <p className="fm-hidden" role="status">
        {query && plural(messages.found, rows.length, locale)}
      </p>
      <div className="fm-hits">
        {sections.map((section) => (
          <Fragment key={section}>
            {section && <h2 dir="auto">{section}</h2>}
            <ul>
              {rows
                .filter(({ group = '' }) => group === section)
                .map((row) => (
                  <Row key={row.key} row={row} />
                ))}
            </ul>
          </Fragment>
        ))}
        {query && rows.length === 0 && <p className="fm-empty">{format(messages.noMatch, { query })}</p>}
      </div>
      <Done editor={own} messages={messages} />
    </dialog>
  )
}

/** Nothing before something is searched for. */
function useFound(
  editor: SettingsEditor,
  query: string,
  { messages, groups }: Words,
  isWanted: (definition: Definition) => boolean,
): Pick<Found, 'hits' | 'words'> {
  const { definitions, values } = useExternal(editor.subscribe, () => editor.state)
  const search = useMemo(() => createSearch(definitions.filter(isWanted), messages, groups), [definitions])
  if (query.trim() === '') return { hits: [], words: [] }
  const { hits, words } = search({ text: query, isExact: false, values })
  return { hits: hits.slice(0, most), words }
}

/** What is found: it leads somewhere, is run, or is changed where it stands. */
interface PaletteRow {
  readonly key: string
  readonly label: string
  readonly detail?: string | null | undefined
  /** One path; without one its place is kept. */
  readonly icon: string | undefined
  readonly group: string | undefined
  readonly href?: string | undefined
  readonly run?: (() => void) | undefined
  /** At its end: what a setting holds, or what changes that. */
  readonly end?: ComponentChildren
}

function Row({
  row: { label, detail, icon, href, run, end },
}: {
  readonly row: PaletteRow
}): ComponentChildren {
  const content = (
    <>
      <Drawing path={icon ?? ''} />
      <span>
        <bdi>{label}</bdi>
        {detail && <bdi className="fm-small">{detail}</bdi>}
      </span>
      {end}
    </>
  )
  if (href === undefined && !run) return <li className="fm-hit">{content}</li>
  return (
    <li>
      {href === undefined ? (
        <button type="button" onClick={run}>
          {content}
        </button>
      ) : (
        <a href={href} onClick={run}>
          {content}
        </a>
      )}
    </li>
  )
}

/** What a few buttons change is changed here, and saved at once; for anything else its page opens. */
function ownRow(
  { definition, reason }: Hit,
  editor: SettingsEditor,
  { messages, groups }: Words,
): PaletteRow {
  const { key, displayName, description, type, confirm, group, sensitive } = definition
  const { values, drafts } = editor.state
  const value = values.get(key)
  const isBool = type === SettingType.Bool
  const row = {
    key: `own ${key}`,
    label: displayName,
    detail: reason ?? description,
    icon: groups[group ?? '']?.icon,
    group: messages.preferences,
  }
  if (confirm || value?.locked !== false || sensitive || !(isBool || isSegmented(definition)))
    return { ...row, href: `${addressOf('preferences')}#setting:${key}` }
  const end = (
    <Segments
      name={`fm-palette-${key}`}
      aria-label={displayName}
      options={optionsOf(definition, messages)}
      value={String(drafts.get(key)?.input ?? value.value)}
      onChoose={(chosen) => {
        editor.edit(definition, isBool ? chosen === 'true' : chosen)
        void editor.commit(key)
      }}
    />
  )
  return { ...row, end }
}

/** Its page opens, with the other position of a switch as a draft. */
function sharedRow(
  { definition, reason }: Hit,
  editor: SettingsEditor,
  { messages, groups }: Words,
): PaletteRow {
  const { key, displayName: name, group, type, sensitive, canWrite } = definition
  const { value, locked } = editor.state.values.get(key) ?? {}
  const turns = type === SettingType.Bool && !sensitive && canWrite && locked === false
  const turn = value === true ? messages.turnOffName : messages.turnOnName
  return {
    key: `shared ${key}`,
    label: turns ? format(turn, { name }) : name,
    detail: [groupName(group, groups), reason].filter(Boolean).join(' · '),
    icon: groups[group ?? '']?.icon,
    group: messages.manage,
    href: `${addressOf('manage')}#setting:${key}`,
    run: turns ? () => keepDrafts('', { [key]: value !== true }) : undefined,
    end: value !== undefined && !sensitive && !turns && (
      <span className="fm-small fm-push" dir="auto">
        {displayValue(definition, value, messages)}
      </span>
    ),
  }
}

function hostRow({ label, detail, icon, group, href, run }: PaletteItem, quit: () => void): PaletteRow {
  const choose = (): void => {
    quit()
    run?.()
  }
  const row = { key: `host ${label}`, label, detail, icon: groupIcon(icon), group }
  return href === undefined ? { ...row, run: choose } : { ...row, href }
}

interface DoneProps extends Pick<Words, 'messages'> {
  readonly editor: SettingsEditor
}

/** What was saved, and the way back; or why it could not be. */
function Done({ editor, messages }: DoneProps): ComponentChildren {
  const { saved, values, byKey, failure, errors } = useExternal(editor.subscribe, () => editor.state)
  const [key] = saved.keys()
  const definition = byKey.get(key ?? '')
  const value = values.get(key ?? '')?.value ?? null
  const problem = failure ? editor.explain(failure) : [...errors.values()].flat().join(' ')
  const done =
    definition &&
    format(messages.isNow, {
      name: definition.displayName,
      value: displayValue(definition, value, messages),
    })
  return (
    <>
      <p className={problem ? 'fm-warning is-bad' : 'fm-hidden'} role="status" dir="auto">
        {problem || done}
      </p>
      {definition && !problem && (
        <footer className="fm-line">
          <b className="fm-say" aria-hidden="true" dir="auto">
            {done}
          </b>
          <Button onClick={() => void editor.undoSave(definition)} text={messages.undo} />
        </footer>
      )}
    </>
  )
}
