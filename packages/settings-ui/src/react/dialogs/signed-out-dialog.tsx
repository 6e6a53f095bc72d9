/** The session ended while the page was open: nothing is lost. */
import type { ReactNode } from 'react'
import { usePage } from '../shared/page-context.ts'
import { Dialog } from '../shared/dialog.tsx'

export function SignedOutDialog(): ReactNode {
  const { editor, messages } = usePage()
  const tryAgain = (): void => {
    editor.dismiss()
    void editor.save() // nothing without drafts
    void editor.refresh() // nothing while it saves
  }
  const actions = (
    <>
      {/* This page itself: the gate leads there by way of the login. */}
      <a href={location.pathname} target="_blank" rel="noopener">
        {messages.signIn}
      </a>
      <button type="button" className="fm-primary" onClick={tryAgain}>
        {messages.tryAgain}
      </button>
    </>
  )
  return (
    <Dialog title={messages.signedOutTitle} onClose={editor.dismiss} actions={actions}>
      <p>{messages.signedOut}</p>
    </Dialog>
  )
}
