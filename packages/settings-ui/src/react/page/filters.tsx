/** The filters of a page: the menu that sets them, and the chips of those that are on. */
import { SettingScope } from '@fastify-modular/settings/client'
import type { ReactNode } from 'react'
import { Icon } from '../icons.tsx'
import { format, type Messages } from '../../texts/messages.ts'
import { needsAttention } from '../model/editor-state.ts'
import { useEditor, usePage } from '../page-context.ts'
import type { SearchProps } from './use-results.ts'
import { type Filter, filters, noSearch } from './use-url-state.ts'

function filterName(filter: Filter, messages: Messages): string {
  const names: Record<Filter, string> = {
    modified: messages.filterModified,
    attention: messages.filterAttention,
    locked: messages.filterLocked,
    sensitive: messages.filterSensitive,
  }
  return names[filter]
}

const scopes = ['application', 'system'] as const

interface FilterMenuProps extends SearchProps {
  readonly areKeysShown: boolean
  readonly onShowKeys: (areShown: boolean) => void
}

export function FilterMenu({
  state,
  results,
  changeUrl,
  areKeysShown,
  onShowKeys,
}: FilterMenuProps): ReactNode {
  const { messages } = usePage()
  const { values } = useEditor((each) => each)
  const attention = useEditor((each) => needsAttention(each).length)
  const { definitions } = results
  const count = (test: (key: string) => boolean | undefined): number =>
    definitions.filter(({ key }) => test(key)).length
  const counts: Record<Filter, number> = {
    modified: count((key) => values.get(key)?.isOverridden),
    attention,
    locked: count((key) => values.get(key)?.locked),
    sensitive: definitions.filter(({ sensitive }) => sensitive).length,
  }
  const system = definitions.filter(({ scope }) => scope === SettingScope.System).length
  const inScope = { system, application: definitions.length - system }
  return (
    <>
      <p className="fm-small">{messages.showOnly}</p>
      {filters.map((filter) => (
        <label key={filter}>
          <input
            type="checkbox"
            checked={state.only.includes(filter)}
            onChange={() =>
              changeUrl({
                only: state.only.includes(filter)
                  ? state.only.filter((each) => each !== filter)
                  : [...state.only, filter],
              })
            }
          />
          {filterName(filter, messages)}
          <span className="fm-end">{counts[filter]}</span>
        </label>
      ))}
      <hr />
      <p className="fm-small">{messages.where}</p>
      {scopes.map((scope) => (
        <label key={scope}>
          <input
            type="checkbox"
            checked={state.scope === scope}
            onChange={() => changeUrl({ scope: state.scope === scope ? null : scope })}
          />
          {messages[scope]}
          <span className="fm-end">{inScope[scope]}</span>
        </label>
      ))}
      <hr />
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

/** The filters that are on, each with the button that takes it off. */
export function Chips({ state, changeUrl }: Pick<SearchProps, 'state' | 'changeUrl'>): ReactNode {
  const { messages } = usePage()
  const { only, scope } = state
  if (only.length === 0 && scope === null) return null
  const chips = [
    ...only.map((filter) => ({
      name: filterName(filter, messages),
      off: () => changeUrl({ only: only.filter((each) => each !== filter) }),
    })),
    ...scopes
      .filter((each) => each === scope)
      .map((each) => ({ name: messages[each], off: () => changeUrl({ scope: null }) })),
  ]
  return (
    <div className="fm-chips">
      {chips.map(({ name, off }) => (
        <button
          key={name}
          type="button"
          className="fm-chip"
          aria-label={format(messages.removeFilter, { name })}
          onClick={(event) => {
            focusSearch(event.currentTarget)
            off()
          }}
        >
          {name}
          <Icon name="close" />
        </button>
      ))}
      <button
        type="button"
        className="fm-link"
        onClick={(event) => {
          focusSearch(event.currentTarget)
          changeUrl({ only: noSearch.only, scope: noSearch.scope })
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
