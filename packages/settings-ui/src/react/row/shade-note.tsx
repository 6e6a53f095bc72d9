/** Below an accent: the shade in which people can read, where the page shows another one than was entered. */
import { type ReactNode, useEffect, useState } from 'react'
import { accentShades } from '../../accent.ts'
import { format } from '../../texts/messages.ts'
import { Icon } from '../icons.tsx'
import { usePage } from '../page-context.ts'

export function ShadeNote({ color }: { readonly color: string }): ReactNode {
  const { messages } = usePage()
  const isDark = useIsDark()
  const shade = accentShades(color)[isDark ? 'dark' : 'light']
  // While it is typed it is no colour yet.
  if (color.length < 7 || shade === color.toLowerCase()) return null
  return (
    <p className="fm-note">
      <Icon name="check" />
      <span dir="auto">{format(messages.shadeAdjusted, { color: `\u2066${shade}\u2069` })}</span>
    </p>
  )
}

/** Whether the page is shown in its dark scheme. */
function useIsDark(): boolean {
  const { root } = usePage()
  const [isDark, setDark] = useState(false)
  useEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)')
    const look = (): void => {
      const { colorScheme } = getComputedStyle(root.current ?? document.documentElement)
      setDark(colorScheme === 'dark' || (colorScheme !== 'light' && system.matches))
    }
    look()
    const observer = new MutationObserver(look)
    observer.observe(document.documentElement, { attributes: true })
    return () => observer.disconnect()
  }, [root])
  return isDark
}
