/** Confirms an Undo that puts back secrets, or changes whose definitions want to be asked: what it would do, by the server's own word. */
import type { RevertReport } from '@fastify-modular/settings/client'
import { type ReactNode, useEffect, useState } from 'react'
import { format } from '../../texts/messages.ts'
import { definitionOf } from '../model/editor-state.ts'
import { failureText } from '../model/failure-text.ts'
import { displayDate } from '../model/setting.ts'
import { toFailure } from '../model/source.ts'
import { useEditor, useNameOf, usePage } from '../page-context.ts'
import { ChangedSetting } from './changed-setting.tsx'
import { Dialog } from './dialog.tsx'

interface RevertDialogProps {
  readonly revision: number
  readonly onClose: () => void
}

export function RevertDialog({ revision, onClose }: RevertDialogProps): ReactNode {
  const { api, editor, messages, locale } = usePage()
  const state = useEditor((each) => each)
  const nameOf = useNameOf()
  const [report, setReport] = useState<RevertReport>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    // What somebody has changed since is said when it is done.
    api
      .revert(revision, { dryRun: true, force: true })
      .then(setReport, (error: unknown) => setProblem(failureText(toFailure(error), messages, nameOf)))
  }, [api, revision])
  const actions = report && (
    <button
      type="button"
      className="fm-button is-main is-bad"
      onClick={() => {
        onClose()
        void editor.revert(revision)
      }}
    >
      {messages.undo}
    </button>
  )
  return (
    <Dialog title={messages.undoTitle} onClose={onClose} closeText={messages.cancel} actions={actions}>
      {problem && (
        <p className="fm-warning is-bad" role="alert">
          {problem}
        </p>
      )}
      {report?.values.map(({ key, oldValue, newValue, storedAt, change }) => (
        <ChangedSetting
          key={key}
          name={key}
          definition={definitionOf(state, key)}
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
