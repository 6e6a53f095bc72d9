/** A modal dialog: its title and its buttons stay in view, what is between them scrolls. */
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { Button } from '../button.tsx'
import { usePage } from '../page-context.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** The text of the first button, which only closes. @default "Close" */
  readonly closeText?: string
  /** The other buttons. */
  readonly actions?: ReactNode
}

/** The browser keeps the focus inside and restores it afterwards; it starts at the title. */
export function Dialog({ title, onClose, closeText, children, actions }: DialogProps): ReactNode {
  const { messages } = usePage()
  const element = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    heading.current?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      className="fm fm-dialog"
      ref={element}
      aria-label={title}
      // Choosing a file may be cancelled too.
      onCancel={(event) => event.target === event.currentTarget && onClose()}
    >
      <header>
        <h3 ref={heading} tabIndex={-1} dir="auto">
          {title}
        </h3>
        <Button look="quiet" aria-label={messages.close} onClick={onClose} icon="close" />
      </header>
      <div className="fm-body" tabIndex={0} role="group" aria-label={title}>
        {children}
      </div>
      <footer>
        <Button onClick={onClose} text={closeText ?? messages.close} />
        {actions}
      </footer>
    </dialog>
  )
}
