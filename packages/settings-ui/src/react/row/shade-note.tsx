/** Below an accent: the shade in which people can read, where the page shows another one than was entered. */
import { type ReactNode, useSyncExternalStore } from 'react'
import { accentShades } from '../../accent.ts'
import { format } from '../../texts/messages.ts'
import { Icon } from '../icons.tsx'
import { usePage } from '../page-context.ts'

export function ShadeNote({ color }: { readonly color: string }): ReactNode {
  const { messages } = usePage()
  const isDark = useIsDark()
  const shade = accentShades(color)[isDark ? 'dark' : 'light']
  // While it is typed it is no colour yet.
  if (color.length < 7 || shade === color) return null
  return (
    <p className="fm-note">
      <Icon name="check" />
      {format(messages.shadeAdjusted, { color: `\u2066${shade}\u2069` })}
    </p>
  )
}

/** Whether the page is shown in its dark scheme. */
function useIsDark(): boolean {
  const { root } = usePage()
  return useSyncExternalStore(observe, () => {
    const { colorScheme } = getComputedStyle(root.current ?? document.documentElement)
    return colorScheme === 'light dark'
      ? matchMedia('(prefers-color-scheme: dark)').matches
      : colorScheme === 'dark'
  })
}

/** Calls when the document gets another scheme. */
function observe(listener: () => void): () => void {
  const observer = new MutationObserver(listener)
  observer.observe(document.documentElement, { attributes: true })
  return () => observer.disconnect()
}
