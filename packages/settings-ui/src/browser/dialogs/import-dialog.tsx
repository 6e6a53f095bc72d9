/** A file of settings: first what it would change, then the change. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ImportReport, SettingsClient, SettingsExport } from '@fastify-modular/settings/client'
import { Icon } from '../icons.tsx'
import { format, plural } from '../../texts/messages.ts'
import { checkInput, toInput } from '../model/input.ts'
import { toDefault } from '../model/setting.ts'
import { failureText, toFailure } from '../model/source.ts'
import { useEditor, usePage } from '../page-context.ts'
import { ChangedSetting } from '../diff/diff.tsx'
import { Dialog } from './dialog.tsx'

type Mode = 'merge' | 'replace'

/** A file that was chosen. */
interface Chosen {
  readonly name: string
  readonly content: SettingsExport
}

export function ImportDialog({ onClose }: { readonly onClose: () => void }): ComponentChildren {
  const { id, api, editor, messages, locale } = usePage()
  const [mode, setMode] = useState<Mode>('merge')
  const [file, setFile] = useState<Chosen>()
  const [preview, setPreview] = useState<ImportReport>()
  const [problem, setProblem] = useState('')

  // What is shown is of the file and the mode that would be applied, whichever answer comes first.
  useEffect(() => {
    let isGone = false
    setPreview(undefined)
    if (!file) return undefined
    setProblem('')
    // What it would replace may be newer than the page.
    Promise.all([api.import(file.content, { mode, dryRun: true }), editor.refresh()]).then(
      ([report]) => !isGone && setPreview(report),
      (error: unknown) => !isGone && setProblem(explain(error, file.content)),
    )
    return () => {
      isGone = true
    }
  }, [api, editor, file, mode])

  /** In the language of the page, where it knows the rule that a value of the file breaks. */
  function explain(error: unknown, { settings }: SettingsExport): string {
    const { status, message, errors } = toFailure(error)
    const texts = Object.entries(errors).map(([key, ofServer]) => {
      const definition = editor.state.byKey.get(key)
      const value = settings.find((each) => each.key === key)?.value
      if (!definition || value === undefined) return [key, ofServer]
      const own = checkInput(definition, toInput(definition, value), null, messages)
      return [key, own === undefined ? ofServer : [own]]
    })
    return failureText({ status, message, errors: Object.fromEntries(texts) }, messages, editor.nameOf)
  }

  async function choose(chosen: File | undefined): Promise<void> {
    if (!chosen) return
    setProblem('')
    setFile(undefined)
    try {
      const content = JSON.parse(await chosen.text()) as SettingsExport | null // the API checks it
      if (content?.format !== 1 || !Array.isArray(content.settings)) throw new TypeError('no export')
      setFile({ name: chosen.name, content })
    } catch {
      setProblem(messages.importUnreadable)
    }
  }

  async function apply(): Promise<void> {
    if (!preview || !file) return
    try {
      // Only what was shown: after a write in between, the API refuses.
      const {
        revision,
        create,
        update,
        delete: reset,
      } = await api.import(file.content, {
        mode,
        revision: preview.revision,
      })
      const keys = [...create, ...update, ...reset]
      onClose()
      await editor.refresh()
      editor.changed([])
      const text = plural(messages.importDone, keys.length, locale)
      editor.say({ kind: 'done', text, ...editor.undoOf(keys, revision) })
    } catch (error) {
      setProblem(explain(error, file.content))
    }
  }

  const writes = preview ? preview.create.length + preview.update.length : 0
  const resets = preview?.delete.length ?? 0
  const text = resets > 0 ? messages.importAndReset : writes > 0 ? messages.importCount : messages.importApply
  const action = {
    text: format(text, { writes, resets }),
    isDangerous: resets > 0,
    isOff: writes + resets === 0 || problem !== '',
    staysOpen: true,
    run: () => void apply(),
  }
  return (
    <Dialog title={messages.importTitle} action={action} onClose={onClose}>
      <label className="fm-drop fm-line">
        <Icon name="up" />
        <span>
          <b dir="auto">{file?.name ?? messages.importFile}</b>
          <span className="fm-small"> {file ? messages.importOther : messages.importDrop}</span>
        </span>
        <input
          type="file"
          aria-label={messages.importFile}
          accept="application/json,.json"
          onChange={({ currentTarget }) => {
            void choose(currentTarget.files?.[0])
            currentTarget.value = '' // a file that was put right under the same name is another one
          }}
        />
      </label>
      {(['merge', 'replace'] as const).map((each) => (
        <label key={each} className="fm-choice fm-line">
          <input type="radio" name={`${id}-mode`} checked={mode === each} onChange={() => setMode(each)} />
          {each === 'merge' ? messages.importMerge : messages.importReplace}
        </label>
      ))}
      {problem && (
        <p className="fm-warning is-bad" role="alert">
          {problem}
        </p>
      )}
      {preview && writes + resets === 0 && <p role="status">{messages.importNothing}</p>}
      {preview && file && <Preview preview={preview} content={file.content} />}
    </Dialog>
  )
}

interface PreviewProps {
  readonly preview: ImportReport
  readonly content: SettingsExport
}

function Preview({ preview, content }: PreviewProps): ComponentChildren {
  const { messages, locale } = usePage()
  const { byKey, values } = useEditor((state) => state)
  const { create, update, delete: reset, unknown } = preview
  const written = new Map(content.settings.map(({ key, value }) => [key, value]))
  const lists = [
    [messages.importChanges, [...create, ...update]],
    [messages.importResets, reset],
    [messages.importSkipped, unknown],
  ] as const
  return lists.map(
    ([title, keys]) =>
      keys.length > 0 && (
        <section key={title.other}>
          <h4 className="fm-day fm-small">{plural(title, keys.length, locale)}</h4>
          {keys.map((key) => {
            const definition = byKey.get(key)
            const stored = values.get(key)
            const now = { value: stored?.value ?? null, isDefault: stored?.isOverridden === false }
            const then = written.has(key)
              ? { value: written.get(key) ?? null }
              : { value: definition ? toDefault(definition) : null, isDefault: true }
            return (
              <ChangedSetting key={key} name={key} definition={definition} from={now} to={then}>
                {!definition && <p className="fm-small">{messages.importUnknown}</p>}
              </ChangedSetting>
            )
          })}
        </section>
      ),
  )
}

/** Writes a file of all that is exported; returns how many settings it has. */
export async function download(api: SettingsClient): Promise<number> {
  const content = await api.export()
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(content, null, 2)}\n`]))
  Object.assign(document.createElement('a'), { href: url, download: 'settings.json' }).click()
  URL.revokeObjectURL(url)
  return content.settings.length
}
