/** The menu that sets the filters of a page. */
import { type ComponentChildren, Fragment } from 'preact'
import { needsAttention } from '../model/editor-state.ts'
import { type Filter, filterName, passes, scopeFilters, stateFilters } from '../model/listing.ts'
import { useEditor, usePage } from '../page-context.ts'
import { toggled } from './filters.tsx'
import { useView } from './use-results.ts'

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
