/** What can be done with one setting. */
import type { ReactNode } from 'react'
import type { Definition, Draft, SettingValue } from '../model/setting.ts'
import { usePage } from '../shared/page-context.ts'
import { QuietButton } from '../shared/quiet-button.tsx'

interface RowActionsProps {
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
  readonly mayChange: boolean
}

export function RowActions({ definition, value, draft, mayChange }: RowActionsProps): ReactNode {
  const { editor, messages, canUpdate, open } = usePage()
  const { key, sensitive, confirm } = definition
  const canReset = value.isOverridden && !value.locked && mayChange
  const reset = (): void =>
    sensitive || confirm ? open({ kind: 'reset', definition }) : void editor.reset(definition)
  const actions = [
    draft && !draft.theirs && { name: messages.undo, run: () => editor.undo(key) },
    canReset && { name: sensitive ? messages.clear : messages.reset, run: reset },
    // The API keeps it from those who may change nothing but their own.
    canUpdate &&
      !editor.isOwn && { name: messages.history, run: () => open({ kind: 'history', definition }) },
    {
      name: messages.copyLink,
      run: () => void copyLink(key).then(() => editor.announce(messages.linkCopied)),
    },
  ]
  return (
    <div className="fm-actions">
      {actions.map(
        (action) =>
          action && (
            <QuietButton key={action.name} about={definition.displayName} onClick={action.run}>
              {action.name}
            </QuietButton>
          ),
      )}
    </div>
  )
}

/** The clipboard needs a secure context; the address bar shows the link in any. */
async function copyLink(key: string): Promise<void> {
  const url = new URL(location.href)
  url.hash = `setting:${key}`
  history.replaceState(history.state, '', url)
  await navigator.clipboard?.writeText(url.href).catch(() => undefined)
}
