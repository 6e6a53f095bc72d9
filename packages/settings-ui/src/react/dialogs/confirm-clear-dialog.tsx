/** Asks before a secret goes: nobody can look it up to enter it again. */
import type { ReactNode } from 'react'
import { format } from '../messages/format.ts'
import type { Definition } from '../model/setting.ts'
import { usePage } from '../page/page-context.ts'
import { Dialog } from './dialog.tsx'

interface ConfirmClearDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

export function ConfirmClearDialog({ definition, onClose }: ConfirmClearDialogProps): ReactNode {
  const { editor, messages } = usePage()
  const clear = (): void => {
    onClose()
    void editor.reset(definition)
  }
  const actions = (
    <button type="button" className="fm-primary fm-danger" onClick={clear}>
      {messages.clear}
    </button>
  )
  const title = format(messages.confirmClearTitle, { name: definition.displayName })
  return (
    <Dialog title={title} onClose={onClose} closeText={messages.cancel} actions={actions}>
      <p>{messages.confirmClear}</p>
    </Dialog>
  )
}
