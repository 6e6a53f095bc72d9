/** A modal dialog: the browser keeps the focus inside and gives it back. */
import { type ReactNode, useLayoutEffect, useRef } from 'react'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** The buttons at the end. */
  readonly actions: ReactNode
}

export function Dialog({ title, onClose, children, actions }: DialogProps): ReactNode {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog className="fm-dialog" ref={element} aria-labelledby="fm-dialog-title" onCancel={onClose}>
      <h2 id="fm-dialog-title">{title}</h2>
      <div className="fm-dialog-body">{children}</div>
      <div className="fm-dialog-actions">{actions}</div>
    </dialog>
  )
}
