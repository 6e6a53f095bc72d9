/** A file of settings: first what it would change, then the change. */
import { type ReactNode, useEffect, useState } from 'react'
import type { Messages } from '../messages.ts'
import type { ImportReport, SettingsExport } from '@fastify-modular/settings/client'
import { toFailure } from '../model/source.ts'
import { usePage } from '../page-context.ts'
import { failureText } from '../messages.ts'
import { Dialog } from './dialog.tsx'

type Mode = 'merge' | 'replace'

export function ImportDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { id, api, editor, messages } = usePage()
  const [mode, setMode] = useState<Mode>('merge')
  const [file, setFile] = useState<SettingsExport>()
  const [preview, setPreview] = useState<ImportReport>()
  const [problem, setProblem] = useState('')

  // What is shown is of the file and the mode that would be applied, whichever answer comes first.
  useEffect(() => {
    let isGone = false
    setPreview(undefined)
    if (!file) return undefined
    setProblem('')
    api.importSettings(file, { mode, dryRun: true }).then(
      (report) => !isGone && setPreview(report),
      (error: unknown) => !isGone && setProblem(failureText(toFailure(error), messages)),
    )
    return () => {
      isGone = true
    }
  }, [api, file, mode, messages])

  async function choose(chosen: File | undefined): Promise<void> {
    if (!chosen) return
    try {
      const content = JSON.parse(await chosen.text()) as SettingsExport | null // the API checks it
      if (content?.format !== 1 || !Array.isArray(content.settings)) throw new TypeError('no export')
      setFile(content)
    } catch {
      setFile(undefined)
      setProblem(messages.importUnreadable)
    }
  }

  async function apply(): Promise<void> {
    if (!preview || !file) return
    try {
      // Only what was shown: after a write in between, the API refuses.
      await api.importSettings(file, { mode, revision: preview.revision })
      onClose()
      await editor.refresh()
      editor.changed()
      editor.announce(messages.importDone)
    } catch (error) {
      setProblem(failureText(toFailure(error), messages))
    }
  }

  const changes = preview ? preview.create.length + preview.update.length + preview.delete.length : 0
  const actions = (
    <button
      type="button"
      className="fm-button is-main"
      disabled={changes === 0 || problem !== ''}
      onClick={() => void apply()}
    >
      {messages.importApply}
    </button>
  )
  return (
    <Dialog title={messages.importTitle} onClose={onClose} closeText={messages.cancel} actions={actions}>
      <label>
        {messages.importFile}{' '}
        <input
          type="file"
          accept="application/json,.json"
          onChange={(event) => void choose(event.currentTarget.files?.[0])}
        />
      </label>
      {(['merge', 'replace'] as const).map((each) => (
        <label key={each} className="fm-choice">
          <input type="radio" name={`${id}-mode`} checked={mode === each} onChange={() => setMode(each)} />
          {each === 'merge' ? messages.importMerge : messages.importReplace}
        </label>
      ))}
      {problem && (
        <p className="fm-error" role="alert">
          {problem}
        </p>
      )}
      {preview && changes === 0 && <p role="status">{messages.importNothing}</p>}
      {preview && <Preview preview={preview} messages={messages} />}
    </Dialog>
  )
}

function Preview({
  preview,
  messages,
}: {
  readonly preview: ImportReport
  readonly messages: Messages
}): ReactNode {
  const lists = [
    [messages.importCreate, preview.create],
    [messages.importUpdate, preview.update],
    [messages.reset, preview.delete],
    [messages.importUnknown, preview.unknown],
  ] as const
  return (
    <dl>
      {lists.map(
        ([name, keys]) =>
          keys.length > 0 && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {keys.map((key) => (
                  <code key={key} dir="ltr">
                    {key}
                  </code>
                ))}
              </dd>
            </div>
          ),
      )}
    </dl>
  )
}
