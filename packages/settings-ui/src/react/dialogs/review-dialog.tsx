/** All unsaved changes, old and new; the question to answer where one of them is to be confirmed. */
import { SettingType } from '@fastify-modular/settings/client'
import type { ReactNode } from 'react'
import { format, type Messages, plural } from '../../texts/messages.ts'
import type { EditorState } from '../model/editor-state.ts'
import { parseInput } from '../model/input.ts'
import type { Definition } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { ChangedSetting } from './changed-setting.tsx'
import { Dialog } from './dialog.tsx'

export function ReviewDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { editor, messages, locale } = usePage()
  const state = useEditor((each) => each)
  const { drafts, values, definitions } = state
  const changed = definitions.filter(({ key }) => drafts.has(key))
  const words = wordsFor(state, changed, messages, locale)
  const saveAll = (): void => {
    onClose()
    void editor.save()
  }
  const actions = (
    <button
      type="button"
      className={words.isDangerous ? 'fm-button is-main is-bad' : 'fm-button is-main'}
      onClick={saveAll}
    >
      {words.save}
    </button>
  )
  return (
    <Dialog title={words.title} closeText={words.close} onClose={onClose} actions={actions}>
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
    </Dialog>
  )
}

interface Words {
  readonly title: string
  readonly close: string
  readonly save: string
  readonly isDangerous: boolean
}

/** One change to confirm is a question; its buttons repeat the verb. */
function wordsFor(
  { drafts }: EditorState,
  changed: readonly Definition[],
  messages: Messages,
  locale: string,
): Words {
  const [only] = changed
  const save = plural(messages.save, changed.length, locale)
  const isDangerous = changed.some(({ confirm }) => confirm)
  if (changed.length === 1 && only?.confirm) {
    const name = only.displayName
    if (only.type !== SettingType.Bool || only.sensitive) {
      return {
        title: format(messages.confirmTitle, { name }),
        close: messages.back,
        save,
        isDangerous,
      }
    }
    const isOn = drafts.get(only.key)?.input === true
    return {
      title: format(isOn ? messages.turnOnTitle : messages.turnOffTitle, { name }),
      close: isOn ? messages.leaveOff : messages.leaveOn,
      save: isOn ? messages.turnOn : messages.turnOff,
      isDangerous,
    }
  }
  const title = plural(messages.reviewTitle, changed.length, locale)
  return { title, close: messages.back, save, isDangerous }
}
