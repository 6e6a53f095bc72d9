/** What is asked before something is written: all unsaved changes, an Undo of secrets, a reset that nothing takes back. */
import { type RevertReport, SettingType } from '@fastify-modular/settings/client'
import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '../button.tsx'
import { ChangedSetting } from '../diff/diff.tsx'
import { format, type Messages, plural } from '../../texts/messages.ts'
import { parseInput } from '../model/input.ts'
import { type Definition, displayDate, type Draft } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { Dialog } from './dialog.tsx'

interface QuestionProps {
  readonly title: string
  /** The button that does it. */
  readonly label: string
  readonly isDangerous?: boolean
  /** The button that does not. @default "Cancel" */
  readonly closeText?: string
  /** Whether it is known what would be done. */
  readonly isReady?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
  readonly children: ReactNode
}

function Question(props: QuestionProps): ReactNode {
  const { title, label, isDangerous = true, closeText, isReady = true, onConfirm, onClose, children } = props
  const { messages } = usePage()
  const action = (
    <Button
      look={isDangerous ? 'danger' : 'main'}
      onClick={() => {
        onClose()
        onConfirm()
      }}
      text={label}
    />
  )
  return (
    <Dialog
      title={title}
      onClose={onClose}
      closeText={closeText ?? messages.cancel}
      actions={isReady && action}
    >
      {children}
    </Dialog>
  )
}

/** All unsaved changes, old and new. */
export function ReviewDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { editor, messages, locale } = usePage()
  const { drafts, values, definitions } = useEditor((state) => state)
  const changed = definitions.filter(({ key }) => drafts.has(key))
  return (
    <Question
      {...wordsFor(drafts, changed, messages, locale)}
      isDangerous={changed.some(({ confirm }) => confirm)}
      onClose={onClose}
      onConfirm={() => void editor.save()}
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
    </Question>
  )
}

/** One change to confirm is a question; its buttons repeat the verb. */
function wordsFor(
  drafts: ReadonlyMap<string, Draft>,
  changed: readonly Definition[],
  messages: Messages,
  locale: string,
): Pick<QuestionProps, 'title' | 'label' | 'closeText'> {
  const [only] = changed
  const label = plural(messages.save, changed.length, locale)
  const closeText = messages.back
  if (changed.length !== 1 || !only?.confirm)
    return { title: plural(messages.reviewTitle, changed.length, locale), label, closeText }
  const name = only.displayName
  if (only.type !== SettingType.Bool || only.sensitive)
    return { title: format(messages.confirmTitle, { name }), label, closeText }
  return drafts.get(only.key)?.input === true
    ? { title: format(messages.turnOnTitle, { name }), label: messages.turnOn, closeText: messages.leaveOff }
    : { title: format(messages.turnOffTitle, { name }), label: messages.turnOff, closeText: messages.leaveOn }
}

interface RevertDialogProps {
  readonly revision: number
  readonly onClose: () => void
}

/** What an Undo would do, by the server's own word: of secrets, and of changes whose definitions want to be asked. */
export function RevertDialog({ revision, onClose }: RevertDialogProps): ReactNode {
  const { api, editor, messages, locale } = usePage()
  const byKey = useEditor((state) => state.byKey)
  const [report, setReport] = useState<RevertReport>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    // What somebody has changed since is said when it is done.
    api
      .revert(revision, { dryRun: true, force: true })
      .then(setReport, (error: unknown) => setProblem(editor.explain(error)))
  }, [api, revision])
  return (
    <Question
      title={messages.undoTitle}
      label={messages.undo}
      isReady={report !== undefined}
      onClose={onClose}
      onConfirm={() => void editor.revert(revision)}
    >
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
    </Question>
  )
}

interface ResetDialogProps {
  readonly definition: Definition
  readonly onClose: () => void
}

/** A reset that cannot be undone: of a secret, or of a setting whose definition wants it confirmed. */
export function ResetDialog({ definition, onClose }: ResetDialogProps): ReactNode {
  const { editor, messages } = usePage()
  const { displayName: name, sensitive, confirm } = definition
  return (
    <Question
      title={`${format(sensitive ? messages.clearOf : messages.resetOf, { name })}?`}
      label={sensitive ? messages.clear : messages.reset}
      onClose={onClose}
      onConfirm={() => void editor.reset(definition)}
    >
      {sensitive && <p>{messages.confirmClear}</p>}
      {confirm && <p dir="auto">{confirm}</p>}
    </Question>
  )
}
