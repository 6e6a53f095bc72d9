/** Settings as `<fm-settings>`, and the page around them, which follows what is tried and saved there. */
import { router } from '@inertiajs/react'
import { type ReactNode, useEffect, useRef } from 'react'
import { useTexts } from './shared.ts'
import { forgetTried, tryOut } from './tried.ts'

interface Element extends HTMLElement {
  /** Enters values that are not saved. */
  enter(values: Readonly<Record<string, unknown>>): void
}

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'fm-settings': React.DetailedHTMLProps<React.HTMLAttributes<HTMLElement>, HTMLElement> & {
        page: string
        keys?: string | undefined
        address?: boolean | undefined
      }
    }
  }
}

declare global {
  interface HTMLElementEventMap {
    'fm-dirty': CustomEvent<{ readonly isDirty: boolean }>
    'fm-saved': CustomEvent<{ readonly keys: readonly string[] }>
    'fm-preview': CustomEvent<{ readonly key: string; readonly value: unknown }>
  }
}

interface SettingsProps {
  readonly page: 'manage' | 'preferences'
  /** These alone, instead of the whole page with its address. */
  readonly keys?: string
  /** What is entered at first. */
  readonly draft?: Readonly<Record<string, unknown>> | undefined
  readonly onDirty?: (isDirty: boolean) => void
}

const elementPath = '/settings/assets/element.js'

export function Settings({ page, keys, draft, onDirty }: SettingsProps): ReactNode {
  const texts = useTexts()
  const element = useRef<Element>(null)

  useEffect(() => {
    const { current } = element
    const ending = new AbortController()
    const options = { signal: ending.signal }
    current?.addEventListener('fm-dirty', ({ detail }) => onDirty?.(detail.isDirty), options)
    current?.addEventListener('fm-preview', ({ detail }) => tryOut(detail.key, detail.value), options)
    current?.addEventListener('fm-saved', ({ detail }) => followSave(detail.keys), options)
    void import(/* @vite-ignore */ elementPath) // now that nothing is missed which is typed in it
    return () => {
      ending.abort()
      forgetTried()
    }
  }, [page])

  useEffect(() => {
    if (draft) void customElements.whenDefined('fm-settings').then(() => element.current?.enter(draft))
  }, [draft])

  return (
    <>
      <link rel="modulepreload" href={elementPath} />
      <fm-settings key={page} ref={element} page={page} keys={keys} address={!keys} suppressHydrationWarning>
        <noscript>{texts.needsScript}</noscript>
      </fm-settings>
    </>
  )
}

/** The page around the settings follows at once; what was saved is no draft any more. */
function followSave(keys: readonly string[]): void {
  router.reload({ onFinish: () => keys.forEach((key) => tryOut(key, undefined)) })
}
