/** What can be done with one setting: one stop for Tab, arrow keys within. */
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { Icon } from '../icons.tsx'
import { MenuButton, MenuItem } from '../menu.tsx'
import { format } from '../../texts/messages.ts'
import { type Definition, displayTime, type Draft, type SettingValue } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { treeOf } from '../tree.ts'

interface RowToolsProps {
  readonly definition: Definition
  readonly value: SettingValue
  readonly draft: Draft | undefined
  readonly mayChange: boolean
}

/** ↺ where there is something to take back, and a menu; preferences have no menu. */
export function RowTools({ definition, value, draft, mayChange }: RowToolsProps): ReactNode {
  const { editor, messages, open } = usePage()
  const { key, displayName: name, sensitive, confirm } = definition
  const isJustSaved = useEditor((state) => editor.isOwn && state.saved.has(key))
  const [stop, setStop] = useState(0)
  const canReset = value.isOverridden && !value.locked && mayChange
  const canUndo = draft !== undefined && draft.theirs === undefined
  const reset = (): void =>
    sensitive || confirm ? open({ kind: 'reset', definition }) : void editor.reset(definition)
  const tools: ReactNode[] = []
  const tabIndex = (): number => (Math.min(stop, count - 1) === tools.length ? 0 : -1)
  const count =
    Number(isJustSaved && !draft && !sensitive) + Number(canUndo || canReset) + Number(!editor.isOwn)

  if (isJustSaved && !draft && !sensitive) {
    tools.push(
      <button
        key="saved"
        type="button"
        className="fm-link"
        tabIndex={tabIndex()}
        onClick={() => void editor.undoSave(definition)}
      >
        {messages.undo}
        <span className="fm-hidden"> {name}</span>
      </button>,
    )
  }
  if (canUndo || canReset) {
    const label = canUndo ? messages.undoOf : sensitive ? messages.clearOf : messages.resetOf
    tools.push(
      <button
        key="reset"
        type="button"
        aria-label={format(label, { name })}
        title={format(label, { name })}
        tabIndex={tabIndex()}
        onClick={() => (canUndo ? editor.undo(key) : reset())}
      >
        <Icon name="reset" />
      </button>,
    )
  }
  if (!editor.isOwn) {
    tools.push(
      <RowMenu
        key="menu"
        definition={definition}
        value={value}
        tabIndex={tabIndex()}
        onReset={canReset ? reset : null}
      />,
    )
  }
  if (tools.length === 0) return null

  function walk(event: KeyboardEvent<HTMLElement>): void {
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>(':scope > button')]
    const focused = treeOf(event.currentTarget).activeElement
    const at = buttons.findIndex((button) => button === focused)
    if (at < 0 || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return
    event.preventDefault()
    const isForward = (event.key === 'ArrowRight') === event.currentTarget.matches(':dir(ltr)')
    const next = (at + (isForward ? 1 : buttons.length - 1)) % buttons.length
    setStop(next)
    buttons[next]?.focus()
  }

  return (
    <span
      className="fm-acts"
      role="toolbar"
      aria-label={format(messages.actionsOf, { name })}
      onKeyDown={walk}
    >
      {tools}
    </span>
  )
}

interface RowMenuProps {
  readonly definition: Definition
  readonly value: SettingValue
  readonly tabIndex: number
  /** Null where there is nothing to reset. */
  readonly onReset: (() => void) | null
}

function RowMenu({ definition, value, tabIndex, onReset }: RowMenuProps): ReactNode {
  const { editor, messages, locale, canUpdate, isEmbedded, open } = usePage()
  const { key, displayName: name, sensitive, docsUrl } = definition
  const changed =
    value.updatedAt &&
    format(value.updatedBy ? messages.lastChanged : messages.lastChangedBySomebody, {
      name: value.updatedBy ?? '',
      time: displayTime(value.updatedAt, locale),
    })
  // Browsers have no clipboard outside of a secure context, and may refuse to write to it.
  async function copy(text: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      return
    }
    editor.announce(done)
  }
  return (
    <MenuButton
      className="fm-more"
      name={format(messages.moreFor, { name })}
      label={<Icon name="more" />}
      tabIndex={tabIndex}
    >
      {(close) => {
        const then = (run: () => void) => () => {
          close()
          run()
        }
        return (
          <>
            {changed && (
              <p className="fm-small" role="presentation" dir="auto">
                {changed}
              </p>
            )}
            {onReset && (
              <MenuItem icon="reset" onSelect={then(onReset)}>
                {sensitive ? messages.clear : messages.reset}
              </MenuItem>
            )}
            {canUpdate && (
              <MenuItem icon="clock" onSelect={then(() => open({ kind: 'history', definition }))}>
                {messages.history}
              </MenuItem>
            )}
            <MenuItem
              icon="link"
              onSelect={then(() => {
                const url = new URL(location.href)
                url.hash = `setting:${key}`
                if (!isEmbedded) history.replaceState(history.state, '', url)
                void copy(url.href, messages.linkCopied)
              })}
            >
              {messages.copyLink}
            </MenuItem>
            <MenuItem icon="copy" onSelect={then(() => void copy(key, messages.keyCopied))}>
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
      }}
    </MenuButton>
  )
}
