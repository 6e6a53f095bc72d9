/** The filters of a page: the menu that sets them, and the chips of those that are on. */
import { Fragment, type ReactNode } from 'react'
import { Icon } from '../icons.tsx'
import { format } from '../../texts/messages.ts'
import { needsAttention } from '../model/editor-state.ts'
import { type Filter, filterName, passes, scopeFilters, stateFilters } from '../model/filters.ts'
import { useEditor, usePage } from '../page-context.ts'
import type { SearchProps } from './use-results.ts'

interface FilterMenuProps extends SearchProps {
  readonly areKeysShown: boolean
  readonly onShowKeys: (areShown: boolean) => void
}

export function FilterMenu(props: FilterMenuProps): ReactNode {
  const { state, results, changeUrl, areKeysShown, onShowKeys } = props
  const { only } = state
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
              <span className="fm-end">{count(filter)}</span>
            </label>
          ))}
          <hr />
        </Fragment>
      ))}
      <label>
        <input
          type="checkbox"
          checked={areKeysShown}
          onChange={(event) => onShowKeys(event.currentTarget.checked)}
        />
        {messages.showKeys}
      </label>
    </>
  )
}

function toggled(only: readonly Filter[], filter: Filter): readonly Filter[] {
  const others = only.filter((each) => each !== filter)
  return others.length < only.length ? others : [...only, filter]
}

/** The filters that are on, each with the button that takes it off. */
export function Chips({ state, changeUrl }: Pick<SearchProps, 'state' | 'changeUrl'>): ReactNode {
  const { messages } = usePage()
  const { only } = state
  if (only.length === 0) return null
  return (
    <div className="fm-chips">
      {only.map((filter) => (
        <button
          key={filter}
          type="button"
          className="fm-chip"
          aria-label={format(messages.removeFilter, { name: filterName(filter, messages) })}
          onClick={(event) => {
            focusSearch(event.currentTarget)
            changeUrl({ only: toggled(only, filter) })
          }}
        >
          {filterName(filter, messages)}
          <Icon name="close" />
        </button>
      ))}
      <button
        type="button"
        className="fm-link"
        onClick={(event) => {
          focusSearch(event.currentTarget)
          changeUrl({ only: [] })
        }}
      >
        {messages.clearFilters}
      </button>
    </div>
  )
}

/** A chip goes with its filter: the focus stays with the search. */
function focusSearch(chip: HTMLElement): void {
  chip.closest('.fm-tools')?.querySelector<HTMLElement>('[type=search]')?.focus()
}
