/** One group of settings. Rows that do not match the search are hidden, not removed: a keystroke stays cheap. */
import type { ReactNode } from 'react'
import type { Group } from '../model/groups.ts'
import { SettingRow } from '../row/setting-row.tsx'

interface GroupCardProps {
  readonly group: Group
  readonly matches: ReadonlySet<string>
}

export function GroupCard({ group: { name, slug, definitions }, matches }: GroupCardProps): ReactNode {
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
      {definitions.map((definition) => (
        <div key={definition.key} hidden={!matches.has(definition.key)}>
          <SettingRow definition={definition} />
        </div>
      ))}
    </section>
  )
}
