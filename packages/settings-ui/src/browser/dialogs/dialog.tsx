/** Modal dialogs, and those that ask before something is written: all unsaved changes, an Undo of secrets, a reset that nothing takes back. */
import { type RevertReport, SettingType } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { format, type Messages, plural } from '../../texts/messages.ts'
import { Button } from '../button.tsx'
import { ChangedSetting } from '../diff/diff.tsx'
import { parseInput } from '../model/input.ts'
import type { Definition, Draft } from '../model/setting.ts'
import { displayDate, lengthText } from '../model/times.ts'
import { toFailure, versionsOf } from '../model/source.ts'
import { useEditor, usePage } from '../page-context.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** The text of the first button, which only closes. @default "Cancel" beside an action, else "Close" */
  readonly closeText?: string
  readonly action?: Action | undefined
}

/** What the other button does. */
interface Action {
  readonly text: string
  readonly isDangerous: boolean
  readonly isOff?: boolean
  /** It closes the dialog itself, when it is done. */
  readonly staysOpen?: boolean
  readonly run: () => void
}

/** Its title and its buttons stay in view. The browser keeps the focus inside and restores it afterwards; it starts at the title. */
export function Dialog({ title, onClose, children, action, closeText }: DialogProps): ComponentChildren {
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
      <header className="fm-line">
        <h3 ref={heading} tabIndex={-1} dir="auto">
          {title}
        </h3>
        <Button look="quiet" icon="close" aria-label={messages.close} onClick={onClose} />
      </header>
      <div className="fm-body" tabIndex={0} role="group" aria-label={title}>
        {children}
      </div>
      <footer className="fm-line">
        <Button onClick={onClose} text={closeText ?? (action ? messages.cancel : messages.close)} />
        {action && (
          <Button
            look={action.isDangerous ? 'danger' : 'main'}
            disabled={action.isOff}
            onClick={() => {
              if (!action.staysOpen) onClose()
              action.run()
            }}
            text={action.text}
          />
        )}
      </footer>
    </dialog>
  )
}

/** Seconds until a save is put back unless it is kept. */
const times = [60, 300, 3600]

/** All unsaved changes, old and new, and whether they have to be kept. */
export function ReviewDialog({ onClose }: { readonly onClose: () => void }): ComponentChildren {
  const { id, editor, messages, locale } = usePage()
  const { drafts, values, definitions } = useEditor((state) => state)
  const changed = definitions.filter(({ key }) => drafts.has(key))
  const [within, setWithin] = useState<number>()
  const { title, text, closeText } = wordsFor(drafts, changed, messages, locale)
  return (
    <Dialog
      title={title}
      closeText={closeText}
      action={{
        text,
        isDangerous: changed.some(({ confirm }) => confirm),
        run: () => void editor.save(within),
      }}
      onClose={onClose}
    >
      {changed.map((definition) => {
        const { key } = definition
        const draft = drafts.get(key)
        const before = values.get(key)
        if (!draft || !before) return null
        const parsed = parseInput(definition, draft.input, before.value)
        // What means nothing is shown as it was entered.
        const value = 'value' in parsed ? parsed.value : String(draft.input)
        return (
          <ChangedSetting
            key={key}
            name={key}
            definition={definition}
            from={{ value: before.value, isDefault: !before.isOverridden && !before.locked }}
            to={{ value }}
            isConfirmed
          >
            {definition.restart && <p className="fm-small">{messages.restart}</p>}
          </ChangedSetting>
        )
      })}
      {editor.isShared && (
        <div className="fm-cell">
          <label htmlFor={`${id}-within`}>{messages.keepWithin}</label>
          <select
            id={`${id}-within`}
            value={within ?? ''}
            onChange={({ currentTarget }) => setWithin(Number(currentTarget.value) || undefined)}
          >
            <option value="">{messages.keepAlways}</option>
            {times.map((seconds) => (
              <option key={seconds} value={seconds}>
                {lengthText(seconds, locale)}
              </option>
            ))}
          </select>
        </div>
      )}
    </Dialog>
  )
}

/** One change to confirm is a question; its buttons repeat the verb. */
function wordsFor(
  drafts: ReadonlyMap<string, Draft>,
  changed: readonly Definition[],
  messages: Messages,
  locale: string,
): { readonly title: string; readonly text: string; readonly closeText: string } {
  const [only] = changed
  const text = plural(messages.save, changed.length, locale)
  const closeText = messages.back
  if (changed.length !== 1 || !only?.confirm)
    return { title: plural(messages.reviewTitle, changed.length, locale), text, closeText }
  const name = only.displayName
  if (only.type !== SettingType.Bool || only.sensitive)
    return { title: format(messages.confirmTitle, { name }), text, closeText }
  return drafts.get(only.key)?.input === true
    ? { title: format(messages.turnOnTitle, { name }), text: messages.turnOn, closeText: messages.leaveOff }
    : { title: format(messages.turnOffTitle, { name }), text: messages.turnOff, closeText: messages.leaveOn }
}

interface RevertDialogProps {
  readonly revision: number
  readonly onClose: () => void
}

/** What an Undo would do, by the server's own word: of secrets, and of changes whose definitions want to be asked. */
export function RevertDialog({ revision, onClose }: RevertDialogProps): ComponentChildren {
  const { api, editor, messages, locale } = usePage()
  const byKey = useEditor((state) => state.byKey)
  const [report, setReport] = useState<RevertReport>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    const preview = (force = {}) => api.revert(revision, { dryRun: true, force })
    // What somebody has changed since is said when it is done.
    preview()
      .catch((error: unknown) => {
        const failure = toFailure(error)
        if (failure.conflicts.length === 0) throw error
        return preview(versionsOf(failure))
      })
      .then(setReport, (error: unknown) => setProblem(editor.explain(error)))
  }, [api, revision])
  const undo = { text: messages.undo, isDangerous: true, run: () => void editor.revert(revision) }
  return (
    <Dialog title={messages.undoTitle} closeText={messages.cancel} action={report && undo} onClose={onClose}>
      {problem && (
        <p className="fm-warning is-bad" role="alert">
          {problem}
        </p>
      )}
      {report?.values.map(({ key, oldValue, newValue, storedAt, change }) => (
        <ChangedSetting
          key={key}
          name={key}
          definition={byKey.get(key)}
          from={{ value: oldValue }}
          to={{ value: newValue, isDefault: change === 'delete' }}
          ofSecret={
            storedAt
              ? format(messages.putsBackSecret, { time: displayDate(storedAt, locale) })
              : change === 'delete'
                ? messages.removesSecret
                : messages.secretChanged
          }
          isConfirmed
        />
      ))}
    </Dialog>
  )
}

interface ResetDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

/** A reset that cannot be undone: of a secret, or of a setting whose definition wants it confirmed. */
export function ResetDialog({ definition, onClose }: ResetDialogProps): ComponentChildren {
  const { editor, messages } = usePage()
  const { displayName: name, sensitive, confirm } = definition
  return (
    <Dialog
      title={`${format(sensitive ? messages.clearOf : messages.resetOf, { name })}?`}
      action={{
        text: sensitive ? messages.clear : messages.reset,
        isDangerous: true,
        run: () => void editor.reset(definition),
      }}
      onClose={onClose}
    >
      {sensitive && <p>{messages.confirmClear}</p>}
      {confirm && <p dir="auto">{confirm}</p>}
    </Dialog>
  )
}
