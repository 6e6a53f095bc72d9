/** What can be done with one setting: ↺ where there is something to take back, a menu, which preferences have none of, and the choice between two values. */
import type { ComponentChildren } from 'preact'
import { format, formatNamed } from '../../texts/messages.ts'
import { Button } from '../button.tsx'
import type { RowParts } from '../controls/control-props.ts'
import { Icon } from '../icons.tsx'
import { MenuButton, MenuItem } from '../menu.tsx'
import { parseInput } from '../model/input.ts'
import { type Definition, type Input, type SettingValue, shortValues } from '../model/setting.ts'
import { displayTime } from '../model/times.ts'
import { useEditor, usePage, useWriter } from '../page-context.ts'
import { morePart, usePart } from '../use-more.ts'

interface RowToolsProps extends RowParts {
  readonly mayChange: boolean
  /** Shows what somebody else has changed, or hides it; null where the row says it. */
  readonly tell: { readonly isTold: boolean; readonly toggle: () => void } | null
}

export function RowTools({ definition, value, draft, mayChange, tell }: RowToolsProps): ComponentChildren {
  const { editor, messages, tenant } = usePage()
  const { key, displayName: name, sensitive, confirm } = definition
  const isJustSaved = useEditor((state) => editor.isOwn && state.saved.has(key))
  const canReset = value.isOverridden && !value.locked && mayChange
  const canUndo = draft !== undefined && draft.theirs === undefined
  const reset = (): void =>
    sensitive || confirm ? editor.open({ kind: 'reset', definition }) : void editor.reset(definition)
  const label = format(canUndo ? messages.undoOf : sensitive ? messages.clearOf : messages.resetOf, { name })
  return (
    <span className="fm-acts">
      {tell && (
        <Button
          about={name}
          look="link"
          aria-expanded={tell.isTold}
          onClick={tell.toggle}
          text={tell.isTold ? messages.hide : messages.showWhat}
        />
      )}
      {isJustSaved && !draft && !sensitive && (
        <Button
          about={name}
          look="link"
          onClick={() => void editor.undoSave(definition)}
          text={messages.undo}
        />
      )}
      {!canUndo && canReset && tenant && value.inheritedSource === 'tenant' ? (
        <Button
          about={name}
          look="link"
          icon="reset"
          onClick={reset}
          text={formatNamed(messages.backToTenant, messages.backToTenantUnnamed, tenant)}
        />
      ) : (
        (canUndo || canReset) && (
          <button
            type="button"
            aria-label={label}
            title={label}
            onClick={() => (canUndo ? editor.undo(key) : reset())}
          >
            <Icon name="reset" />
          </button>
        )
      )}
      {editor.isShared && (
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

function RowMenu({ definition, value, onReset }: RowMenuProps): ComponentChildren {
  const { editor, messages, canUpdate, isEmbedded } = usePage()
  const { key, displayName: name, sensitive, docsUrl } = definition
  function copyLink(): void {
    const url = new URL(location.href)
    url.hash = `setting:${key}`
    if (!isEmbedded) history.replaceState(history.state, '', url)
    void editor.copy(url.href)
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
        <MenuItem icon="clock" onSelect={() => editor.open({ kind: 'history', definition })}>
          {messages.history}
        </MenuItem>
      )}
      <MenuItem icon="link" onSelect={copyLink}>
        {messages.copyLink}
      </MenuItem>
      <MenuItem icon="copy" onSelect={() => void editor.copy(key)}>
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
function ChangedBy({ value }: { readonly value: SettingValue }): ComponentChildren {
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

interface RowConflictProps {
  /** Of the text, which describes the control. */
  readonly id: string
  readonly definition: Definition
  readonly theirs: SettingValue
  /** What the user has entered. */
  readonly input: Input
}

export function RowConflict({ id, definition, theirs, input }: RowConflictProps): ComponentChildren {
  const { editor, messages } = usePage()
  const { key, sensitive } = definition
  const name = useWriter(theirs) ?? messages.somebody
  const parsed = parseInput(definition, input, theirs.value)
  const mine = 'value' in parsed ? parsed.value : String(input)
  const texts = shortValues(definition, [mine, theirs.value], messages)
  const more = usePart(morePart, !texts && !sensitive)
  const text = format(sensitive ? messages.theirSecret : messages.theirs, { name })
  return (
    <div className="fm-conflict fm-line" role="group" aria-label={text}>
      <p className="fm-small" id={id} dir="auto">
        {text}
      </p>
      {more && <more.Diff definition={definition} from={{ value: theirs.value }} to={{ value: mine }} />}
      <Button onClick={() => editor.keepMine(definition)}>
        {messages.keepMine}
        {texts && <bdi>({texts[0]})</bdi>}
      </Button>
      <Button onClick={() => editor.undo(key)}>
        {format(messages.useTheirs, { name })}
        {texts && <bdi>({texts[1]})</bdi>}
      </Button>
    </div>
  )
}
