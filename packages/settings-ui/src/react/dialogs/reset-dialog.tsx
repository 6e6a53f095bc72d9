/** Asks before a stored value goes: a secret that nobody can look up again, or a setting that asks for it. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import type { Definition } from '../model/setting.ts'
import { usePage } from '../shared/page-context.ts'
import { Dialog } from '../shared/dialog.tsx'

interface ResetDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

export function ResetDialog({ definition, onClose }: ResetDialogProps): ReactNode {
  const { editor, messages } = usePage()
  const { displayName, sensitive, confirm } = definition
  const action = sensitive ? messages.clear : messages.reset
  const reset = (): void => {
    onClose()
    void editor.reset(definition)
  }
  const actions = (
    <button type="button" className="fm-primary fm-danger" onClick={reset}>
      {action}
    </button>
  )
  const title = format(messages.resetTitle, { action, name: displayName })
  return (
    <Dialog title={title} onClose={onClose} closeText={messages.cancel} actions={actions}>
      {sensitive && <p>{messages.confirmClear}</p>}
      {confirm && <p>{confirm}</p>}
    </Dialog>
  )
}
