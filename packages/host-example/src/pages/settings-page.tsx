/** Settings within the frame of this application: what administrators change, or what each reader does. */
import { router, usePage } from '@inertiajs/react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Layout } from './layout.tsx'
import { useTexts } from './shared.ts'
import { forgetTried, tryOut } from './tried.ts'

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'fm-settings': React.DetailedHTMLProps<React.HTMLAttributes<HTMLElement>, HTMLElement> & {
        page: string
        address: boolean
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

export function SettingsPage(): ReactNode {
  const { page } = usePage<{ page: 'manage' | 'preferences' }>().props
  const texts = useTexts()
  const element = useRef<HTMLElement>(null)
  const [isDirty, setDirty] = useState(false)

  useEffect(() => {
    const { current } = element
    const ending = new AbortController()
    const options = { signal: ending.signal }
    current?.addEventListener('fm-dirty', ({ detail }) => setDirty(detail.isDirty), options)
    current?.addEventListener('fm-preview', ({ detail }) => tryOut(detail.key, detail.value), options)
    current?.addEventListener('fm-saved', ({ detail }) => followSave(detail.keys), options)
    return () => {
      ending.abort()
      forgetTried()
    }
  }, [page])

  return (
    <Layout title={page === 'manage' ? texts.settings : texts.preferences}>
      <script async type="module" src="/settings/assets/element.js" />
      <main id="main" tabIndex={-1}>
        <fm-settings key={page} ref={element} page={page} address suppressHydrationWarning>
          <noscript>{texts.needsScript}</noscript>
        </fm-settings>
        <LeaveQuestion isDirty={isDirty} />
      </main>
    </Layout>
  )
}

/** The page around the settings follows at once; what was saved is no draft any more. */
function followSave(keys: readonly string[]): void {
  router.reload({ onFinish: () => keys.forEach((key) => tryOut(key, undefined)) })
}

/** Asks before a visit leaves unsaved changes: it loads no new document, so the browser does not warn. */
function LeaveQuestion({ isDirty }: { isDirty: boolean }): ReactNode {
  const texts = useTexts()
  const dialog = useRef<HTMLDialogElement>(null)
  /** Makes the visit that is held while the question is open. */
  const leave = useRef<(() => void) | null>(null)
  useEffect(() => {
    if (!isDirty) return undefined
    return router.on('before', ({ detail: { visit } }) => {
      const isReload = visit.url.pathname === window.location.pathname
      if (isReload || leave.current) return true
      leave.current = () => router.visit(visit.url, visit)
      dialog.current?.showModal()
      return false
    })
  }, [isDirty])

  return (
    <dialog
      className="dialog"
      ref={dialog}
      aria-labelledby="leave-question"
      aria-describedby="leave-more"
      onClose={() => {
        leave.current = null
      }}
    >
      <form method="dialog">
        <h2 id="leave-question">{texts.leaveUnsaved}</h2>
        <p id="leave-more">{texts.leaveUnsavedMore}</p>
        <footer>
          <button className="button">{texts.stay}</button>
          <button className="button primary" onClick={() => leave.current?.()}>
            {texts.leave}
          </button>
        </footer>
      </form>
    </dialog>
  )
}
