/** A modal dialog, and those that only show and confirm: unsaved changes, a reset, the end of the session. */
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { format } from '../messages.ts'
import { type Definition, displayValue } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** The text of the first button, which only closes. @default "Close" */
  readonly closeText?: string
  /** The other buttons. */
  readonly actions?: ReactNode
}

/** A modal dialog: the browser keeps the focus inside and restores it afterwards. */
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

/** All unsaved changes, old and new. */
export function ReviewDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { editor, messages } = usePage()
  const { drafts, values, definitions } = useEditor((state) => state)
  const saveAll = (): void => {
    onClose()
    void editor.save()
  }
  const actions = (
    <button type="button" className="fm-primary" onClick={saveAll}>
      {messages.save}
    </button>
  )
  return (
    <Dialog title={messages.reviewTitle} onClose={onClose} actions={actions}>
      <dl>
        {definitions.map((definition) => {
          const { key, displayName, sensitive, confirm, restart } = definition
          const draft = drafts.get(key)
          if (!draft) return null
          return (
            <div key={key}>
              <dt>
                {displayName} <code dir="ltr">{key}</code>
              </dt>
              <dd>
                {!sensitive && (
                  <del>{displayValue(definition, values.get(key)?.value ?? null, messages)}</del>
                )}{' '}
                <ins>{displayValue(definition, draft.input, messages)}</ins>
              </dd>
              {confirm && <dd className="fm-error">{confirm}</dd>}
              {restart && <dd>{messages.restart}</dd>}
            </div>
          )
        })}
      </dl>
    </Dialog>
  )
}

interface ResetDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

/** Confirms a reset that cannot be undone: of a secret, or of a setting whose definition wants it confirmed. */
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

/** The session ended while the page was open: nothing is lost. */
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
