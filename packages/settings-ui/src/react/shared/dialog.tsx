/** A modal dialog: the browser keeps the focus inside and gives it back. */
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { usePage } from './page-context.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** What the first button says, which does nothing but close. @default "Close" */
  readonly closeText?: string
  /** The other buttons. */
  readonly actions?: ReactNode
}

export function Dialog({ title, onClose, closeText, children, actions }: DialogProps): ReactNode {
  const { messages } = usePage()
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog className="fm-dialog" ref={element} aria-label={title} onCancel={onClose}>
      <h2>{title}</h2>
      <div className="fm-dialog-body">{children}</div>
      <div className="fm-dialog-actions">
        <button type="button" onClick={onClose}>
          {closeText ?? messages.close}
        </button>
        {actions}
      </div>
    </dialog>
  )
}
