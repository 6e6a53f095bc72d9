/** What `<fm-palette>` shows: own preferences, changed in place; shared settings, which open their page; items of the host. */
import { createSettingsClient, SettingScope, SettingType } from '@fastify-modular/settings/client'
import { type ComponentChildren, render } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PageConfig } from '../document.ts'
import type { PaletteItem } from '../palette-item.ts'
import { defaultMessages, format, type Messages, plural } from '../texts/messages.ts'
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

type Groups = NonNullable<PageConfig['groups']>
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
  const messages = { ...defaultMessages, ...texts, ...(label !== undefined && { search: label }) }
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

interface PaletteProps {
  readonly own: SettingsEditor
  readonly shared: SettingsEditor
  readonly items: FindItems
  readonly messages: Messages
  readonly locale: string
  readonly groups: Groups
  readonly close: () => void
}

function Palette({
  own,
  shared,
  items,
  messages,
  locale,
  groups: faces,
  close,
}: PaletteProps): ComponentChildren {
  const dialog = useRef<HTMLDialogElement>(null)
  const [query, setQuery] = useState('')
  const [offered, setOffered] = useState<readonly PaletteItem[]>([])
  const searched = { query, messages, groups: faces }
  const { hits: mine, words } = useFound(own, searched, ({ scope }) => scope === SettingScope.User)
  const { hits: ours } = useFound(shared, searched, ({ scope }) => scope !== SettingScope.User)
  useEffect(() => highlight(dialog.current, words))
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

  const groups = [...new Set(offered.map(({ group = '' }) => group))]
  const count = mine.length + ours.length + offered.length
  return (
    <dialog
      className="fm fm-dialog fm-palette"
      ref={dialog}
      aria-label={messages.search}
      onClose={close}
      onKeyDown={walk}
    >
      <div className="fm-ask" role="search">
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
        <button
          className="fm-button is-quiet"
          type="button"
          aria-label={messages.close}
          onClick={() => dialog.current?.close()}
        >
          <kbd />
        </button>
      </div>
      <p className="fm-hidden" role="status">
        {query && plural(messages.found, count, locale)}
      </p>
      <div className="fm-hits">
        <Hits title={messages.preferences} isShown={mine.length > 0}>
          {mine.map((hit) => (
            <OwnHit key={hit.definition.key} {...{ hit, editor: own, messages, groups: faces }} />
          ))}
        </Hits>
        <Hits title={messages.manage} isShown={ours.length > 0}>
          {ours.map((hit) => (
            <SharedHit key={hit.definition.key} {...{ hit, editor: shared, messages, groups: faces }} />
          ))}
        </Hits>
        {groups.map((group) => (
          <Hits key={group} title={group} isShown>
            {offered
              .filter((item) => (item.group ?? '') === group)
              .map((item) => (
                <HostHit key={item.label} item={item} close={() => dialog.current?.close()} />
              ))}
          </Hits>
        ))}
        {query !== '' && count === 0 && <p className="fm-empty">{format(messages.noMatch, { query })}</p>}
      </div>
      <Done editor={own} messages={messages} />
    </dialog>
  )
}

/** Nothing before something is searched for. */
function useFound(
  editor: SettingsEditor,
  { query, messages, groups }: { readonly query: string } & Pick<HitProps, 'messages' | 'groups'>,
  isWanted: (definition: Definition) => boolean,
): Pick<Found, 'hits' | 'words'> {
  const definitions = useExternal(editor.subscribe, () => editor.state.definitions)
  const search = useMemo(() => createSearch(definitions.filter(isWanted), messages, groups), [definitions])
  if (query.trim() === '') return nothing
  const { hits, words } = search({ text: query, isExact: false, values: editor.state.values })
  return { hits: hits.slice(0, most), words }
}

const nothing: Pick<Found, 'hits' | 'words'> = { hits: [], words: [] }

function Hits({
  title,
  isShown,
  children,
}: {
  readonly title: string
  readonly isShown: boolean
  readonly children: ComponentChildren
}): ComponentChildren {
  if (!isShown) return null
  return (
    <>
      {title && <h2 dir="auto">{title}</h2>}
      <ul>{children}</ul>
    </>
  )
}

interface HitProps {
  readonly hit: Hit
  readonly editor: SettingsEditor
  readonly messages: Messages
  readonly groups: Groups
}

interface HitTextsProps {
  /** One path; an empty one keeps the place. */
  readonly icon: string | undefined
  readonly name: string
  readonly detail?: string | null | undefined
}

function HitTexts({ icon, name, detail }: HitTextsProps): ComponentChildren {
  return (
    <>
      <Drawing path={icon ?? ''} />
      <span>
        <bdi>{name}</bdi>
        {detail && <bdi className="fm-small">{detail}</bdi>}
      </span>
    </>
  )
}

/** What a few buttons change is changed here, and saved at once; for anything else its page opens. */
function OwnHit({ hit, editor, messages, groups }: HitProps): ComponentChildren {
  const { definition } = hit
  const { key, displayName, description, type, confirm } = definition
  const texts = (
    <HitTexts
      icon={groups[definition.group ?? '']?.icon}
      name={displayName}
      detail={hit.reason ?? description}
    />
  )
  const value = useExternal(editor.subscribe, () => editor.state.values.get(key))
  const input = useExternal(editor.subscribe, () => editor.state.drafts.get(key)?.input) ?? value?.value
  const isBool = type === SettingType.Bool
  if (confirm || value?.locked !== false || definition.sensitive || !(isBool || isSegmented(definition))) {
    return (
      <li>
        <a href={`${addressOf('preferences')}#setting:${key}`}>{texts}</a>
      </li>
    )
  }
  return (
    <li className="fm-hit">
      {texts}
      <Segments
        name={`fm-palette-${key}`}
        aria-label={displayName}
        options={optionsOf(definition, messages)}
        value={String(input)}
        onChoose={(chosen) => {
          editor.edit(definition, isBool ? chosen === 'true' : chosen)
          void editor.commit(key)
        }}
      />
    </li>
  )
}

/** Its page opens, with the other position of a switch as a draft. */
function SharedHit({ hit, editor, messages, groups }: HitProps): ComponentChildren {
  const { definition } = hit
  const { key, displayName, group, type, sensitive, canWrite } = definition
  const detail = [groupName(group, groups), hit.reason].filter(Boolean).join(' · ')
  const value = useExternal(editor.subscribe, () => editor.state.values.get(key))
  const turns = type === SettingType.Bool && !sensitive && canWrite && value?.locked === false
  const name = turns
    ? format(value.value === true ? messages.turnOffName : messages.turnOnName, { name: displayName })
    : displayName
  return (
    <li>
      <a
        href={`${addressOf('manage')}#setting:${key}`}
        onClick={() => turns && keepDrafts('', { [key]: value.value !== true })}
      >
        <HitTexts icon={groups[group ?? '']?.icon} name={name} detail={detail} />
        {value && !sensitive && !turns && (
          <span className="fm-small fm-push" dir="auto">
            {displayValue(definition, value.value, messages)}
          </span>
        )}
      </a>
    </li>
  )
}

function HostHit({
  item: { label, detail, icon, href, run },
  close,
}: {
  readonly item: PaletteItem
  readonly close: () => void
}): ComponentChildren {
  const texts = <HitTexts icon={groupIcon(icon)} name={label} detail={detail} />
  const choose = (): void => {
    close()
    run?.()
  }
  return (
    <li>
      {href === undefined ? (
        <button type="button" onClick={choose}>
          {texts}
        </button>
      ) : (
        <a href={href}>{texts}</a>
      )}
    </li>
  )
}

/** What was saved, and the way back; or why it could not be. */
function Done({ editor, messages }: Pick<HitProps, 'editor' | 'messages'>): ComponentChildren {
  const { saved, values, byKey, failure, drafts } = useExternal(editor.subscribe, () => editor.state)
  const [key] = saved.keys()
  const definition = byKey.get(key ?? '')
  const value = values.get(key ?? '')?.value ?? null
  const problem = failure
    ? editor.explain(failure)
    : [...drafts.values()].flatMap(({ errors }) => errors).join(' ')
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
        <footer>
          <b className="fm-say" aria-hidden="true" dir="auto">
            {done}
          </b>
          <Button onClick={() => void editor.undoSave(definition)} text={messages.undo} />
        </footer>
      )}
    </>
  )
}
