/** The groups of a page, as links; the one in view is marked. */
import { type ReactNode, useEffect, useState } from 'react'
import { type Group, groupId } from '../model/groups.ts'
import { usePage } from '../shared/page-context.ts'

interface GroupNavProps {
  readonly groups: readonly Group[]
  readonly matches: ReadonlySet<string>
}

export function GroupNav({ groups, matches }: GroupNavProps): ReactNode {
  const { id, messages } = usePage()
  const current = useGroupInView(id, groups)
  return (
    <nav className="fm-nav" aria-label={messages.groups}>
      <ul>
        {groups.map(({ name, slug, definitions }) => {
          const count = definitions.filter(({ key }) => matches.has(key)).length
          return (
            <li key={slug} hidden={count === 0}>
              <a href={`#${groupId(id, slug)}`} aria-current={slug === current ? 'true' : undefined}>
                {name} <span className="fm-count">{count}</span>
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

/** The slug of the topmost group that is in view. */
function useGroupInView(id: string, groups: readonly Group[]): string | undefined {
  const [slug, setSlug] = useState<string>()
  useEffect(() => {
    const visible = new Set<string>()
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (isIntersecting) visible.add(target.id)
          else visible.delete(target.id)
        }
        setSlug(groups.find((group) => visible.has(groupId(id, group.slug)))?.slug)
      },
      { rootMargin: '-20% 0px -60%' },
    )
    for (const group of groups) {
      const section = document.getElementById(groupId(id, group.slug))
      if (section) observer.observe(section)
    }
    return () => observer.disconnect()
  }, [id, groups])
  return slug ?? groups[0]?.slug
}
