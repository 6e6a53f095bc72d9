/** What can be done with one setting: ↺ where there is something to take back, and a menu, which preferences have none of. */
import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { Icon } from '../icons.tsx'
import { MenuButton, MenuItem } from '../menu.tsx'
import { format } from '../../texts/messages.ts'
import { displayTime, type SettingValue } from '../model/setting.ts'
import { copyText, useEditor, usePage, useWriter } from '../page-context.ts'
import type { RowParts } from './row-description.tsx'

interface RowToolsProps extends RowParts {
  readonly mayChange: boolean
}

export function RowTools({ definition, value, draft, mayChange }: RowToolsProps): ReactNode {
  const { editor, messages, open } = usePage()
  const { key, displayName: name, sensitive, confirm } = definition
  const isJustSaved = useEditor((state) => editor.isOwn && state.saved.has(key))
  const canReset = value.isOverridden && !value.locked && mayChange
  const canUndo = draft !== undefined && draft.theirs === undefined
  const reset = (): void =>
    sensitive || confirm ? open({ kind: 'reset', definition }) : void editor.reset(definition)
  const label = format(canUndo ? messages.undoOf : sensitive ? messages.clearOf : messages.resetOf, { name })
  return (
    <span className="fm-acts">
      {isJustSaved && !draft && !sensitive && (
        <Button
          about={name}
          look="link"
          onClick={() => void editor.undoSave(definition)}
          text={messages.undo}
        />
      )}
      {(canUndo || canReset) && (
        <button
          type="button"
          aria-label={label}
          title={label}
          onClick={() => (canUndo ? editor.undo(key) : reset())}
        >
          <Icon name="reset" />
        </button>
      )}
      {!editor.isOwn && (
        <MenuButton
          className="fm-more"
          name={format(messages.moreFor, { name })}
          label={<Icon name="more" />}
        >
          <RowMenu definition={definition} value={value} onReset={canReset ? reset : null} />
        </MenuButton>
      )}
    </span>
  )
}

interface RowMenuProps extends Pick<RowParts, 'definition' | 'value'> {
  /** Null where there is nothing to reset. */
  readonly onReset: (() => void) | null
}

function RowMenu({ definition, value, onReset }: RowMenuProps): ReactNode {
  const { editor, messages, canUpdate, isEmbedded, open } = usePage()
  const { key, displayName: name, sensitive, docsUrl } = definition
  function copyLink(): void {
    const url = new URL(location.href)
    url.hash = `setting:${key}`
    if (!isEmbedded) history.replaceState(history.state, '', url)
    void copyText(url.href, editor, messages)
  }

  return (
    <>
      <ChangedBy value={value} />
      {onReset && (
        <MenuItem icon="reset" onSelect={onReset}>
          {sensitive ? messages.clear : messages.reset}
        </MenuItem>
      )}
      {canUpdate && (
        <MenuItem icon="clock" onSelect={() => open({ kind: 'history', definition })}>
          {messages.history}
        </MenuItem>
      )}
      <MenuItem icon="link" onSelect={copyLink}>
        {messages.copyLink}
      </MenuItem>
      <MenuItem icon="copy" onSelect={() => void copyText(key, editor, messages)}>
        {messages.copyKey}
      </MenuItem>
      {docsUrl && (
        <a role="menuitem" tabIndex={-1} href={docsUrl} target="_blank" rel="noreferrer">
          <Icon name="open" />
          {messages.documentation}
          <span className="fm-hidden"> {name}</span>
        </a>
      )}
    </>
  )
}

/** Who has changed the value last. */
function ChangedBy({ value }: { readonly value: SettingValue }): ReactNode {
  const { messages, locale } = usePage()
  const name = useWriter(value)
  if (value.updatedAt === null) return null
  const time = displayTime(value.updatedAt, locale)
  return (
    <p className="fm-small" role="presentation" dir="auto">
      {name === null
        ? format(messages.lastChangedBySomebody, { time })
        : format(messages.lastChanged, { name, time })}
    </p>
  )
}
