/** A question before something that others notice, or that cannot be taken back. */
import { type ReactNode, useEffect, useId, useRef } from 'react'

interface ConfirmDialogProps {
  readonly question: string
  /** What follows from a yes. */
  readonly consequence: string
  /** What the buttons say: they repeat the verb of the question. */
  readonly no: string
  readonly yes: string
  readonly onYes: () => void
  /** Called whatever was answered. */
  readonly onClose: () => void
}

export function ConfirmDialog(props: ConfirmDialogProps): ReactNode {
  const { question, consequence, no, yes, onYes, onClose } = props
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      className="dialog"
      ref={dialog}
      aria-labelledby={`${id}-question`}
      aria-describedby={`${id}-more`}
      onClose={onClose}
    >
      <form method="dialog">
        <h2 id={`${id}-question`}>{question}</h2>
        <p id={`${id}-more`}>{consequence}</p>
        <footer>
          <button className="button">{no}</button>
          <button className="button primary" onClick={onYes}>
            {yes}
          </button>
        </footer>
      </form>
    </dialog>
  )
}
