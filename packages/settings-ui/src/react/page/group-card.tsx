/** One group of settings. Rows that do not match the search are hidden, not removed: a keystroke stays cheap. */
import { type ReactNode, useMemo } from 'react'
import type { Group } from '../model/groups.ts'
import { SettingRow } from '../row/setting-row.tsx'

interface GroupCardProps {
  readonly group: Group
  readonly matches: ReadonlySet<string>
}

export function GroupCard({ group: { name, slug, definitions }, matches }: GroupCardProps): ReactNode {
  // The same elements again are not rendered again, whatever the search hides.
  const rows = useMemo(
    () => definitions.map((definition) => <SettingRow key={definition.key} definition={definition} />),
    [definitions],
  )
  const isEmpty = !definitions.some(({ key }) => matches.has(key))
  return (
    <section
      className="fm-card"
      id={`group-${slug}`}
      aria-labelledby={`group-${slug}-name`}
      data-testid="setting-card"
      hidden={isEmpty}
    >
      <h2 id={`group-${slug}-name`}>{name}</h2>
      {rows.map((row, index) => (
        <div key={row.key} hidden={!matches.has(definitions[index]?.key ?? '')}>
          {row}
        </div>
      ))}
    </section>
  )
}
