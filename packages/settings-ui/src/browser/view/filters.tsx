/** The filters of a page that are on. */
import type { ComponentChildren } from 'preact'
import { Button } from '../button.tsx'
import { Icon } from '../icons.tsx'
import { format } from '../../texts/messages.ts'
import { type Filter, filterName } from '../model/listing.ts'
import { usePage } from '../page-context.ts'
import { useView } from './use-results.ts'

export function toggled(only: readonly Filter[], filter: Filter): readonly Filter[] {
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
