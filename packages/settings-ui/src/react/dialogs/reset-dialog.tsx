/** Confirms a reset that cannot be undone: of a secret, or of a setting whose definition wants it confirmed. */
import type { ReactNode } from 'react'
import { format } from '../../texts/messages.ts'
import type { Definition } from '../model/setting.ts'
import { usePage } from '../page-context.ts'
import { Dialog } from './dialog.tsx'

interface ResetDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

export function ResetDialog({ definition, onClose }: ResetDialogProps): ReactNode {
  const { editor, messages } = usePage()
  const { displayName: name, sensitive, confirm } = definition
  const reset = (): void => {
    onClose()
    void editor.reset(definition)
  }
  const actions = (
    <button type="button" className="fm-button is-main is-bad" onClick={reset}>
      {sensitive ? messages.clear : messages.reset}
    </button>
  )
  const title = `${format(sensitive ? messages.clearOf : messages.resetOf, { name })}?`
  return (
    <Dialog title={title} onClose={onClose} closeText={messages.cancel} actions={actions}>
      {sensitive && <p>{messages.confirmClear}</p>}
      {confirm && <p dir="auto">{confirm}</p>}
    </Dialog>
  )
}
