/** The filters of a page: the menu that sets them, and those that are on. */
import { type ComponentChildren, Fragment } from 'preact'
import { Button } from '../button.tsx'
import { Icon } from '../icons.tsx'
import { format } from '../../texts/messages.ts'
import { needsAttention } from '../model/editor-state.ts'
import { type Filter, filterName, passes, scopeFilters, stateFilters } from '../model/listing.ts'
import { useEditor, usePage } from '../page-context.ts'
import { useView } from './use-results.ts'

function toggled(only: readonly Filter[], filter: Filter): readonly Filter[] {
  const others = only.filter((each) => each !== filter)
  return others.length < only.length ? others : [...only, filter]
}

/** Each with the button that takes it off. */
export function Chips(): ComponentChildren {
  const { root, messages } = usePage()
  const { url, changeUrl } = useView()
  const { only } = url
  if (only.length === 0) return null
  /** A chip goes with its filter: the focus stays with the search. */
  function leave(filters: readonly Filter[]): void {
    root.current?.querySelector<HTMLElement>('[role=searchbox]')?.focus()
    changeUrl({ only: filters })
  }
  return (
    <div className="fm-chips fm-line">
      {only.map((filter) => (
        <button
          key={filter}
          type="button"
          className="fm-chip"
          aria-label={format(messages.removeFilter, { name: filterName(filter, messages) })}
          onClick={() => leave(toggled(only, filter))}
        >
          {filterName(filter, messages)}
          <Icon name="close" />
        </button>
      ))}
      <Button look="link" onClick={() => leave([])} text={messages.clearFilters} />
    </div>
  )
}

export function FilterMenu(): ComponentChildren {
  const { url, results, changeUrl, areKeysShown, showKeys } = useView()
  const { only } = url
  const { messages } = usePage()
  const editor = useEditor((each) => each)
  const wrong = needsAttention(editor)
  const count = (filter: Filter): number =>
    results.definitions.filter((each) =>
      passes([filter], each, editor.values.get(each.key), wrong.includes(each)),
    ).length
  const kinds = [
    [messages.showOnly, stateFilters],
    [messages.where, scopeFilters],
  ] as const
  return (
    <>
      {kinds.map(([title, filters]) => (
        <Fragment key={title}>
          <p className="fm-small">{title}</p>
          {filters.map((filter) => (
            <label key={filter}>
              <input
                type="checkbox"
                checked={only.includes(filter)}
                onChange={() => changeUrl({ only: toggled(only, filter) })}
              />
              {filterName(filter, messages)}
              <span className="fm-push">{count(filter)}</span>
            </label>
          ))}
          <hr />
        </Fragment>
      ))}
      <label>
        <input
          type="checkbox"
          checked={areKeysShown}
          onChange={(event) => showKeys(event.currentTarget.checked)}
        />
        {messages.showKeys}
      </label>
    </>
  )
}
