/** Buttons that open menus, and what stands in these. */
import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import { treeOf } from './tree.ts'

interface MenuButtonProps {
  /** What the button says, or its accessible name where it shows an icon only. */
  readonly label: ComponentChildren
  readonly name?: string
  readonly className: string
  /** A press on a button or a link in it closes the menu. */
  readonly children: ComponentChildren
  /** `menu` for actions, `group` for check boxes and links, which Tab walks too. */
  readonly role?: 'menu' | 'group'
}

/** A button and the menu that it opens. */
export function MenuButton(props: MenuButtonProps): ComponentChildren {
  const { label, name, className, role = 'menu' } = props
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  return (
    <>
      <button
        type="button"
        ref={button}
        className={className}
        aria-label={name}
        aria-haspopup={role === 'menu' ? 'menu' : undefined}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      {isOpen && <MenuPopup {...props} role={role} button={button} onClose={() => setOpen(false)} />}
    </>
  )
}

interface PopupProps extends MenuButtonProps {
  readonly button: RefObject<HTMLButtonElement | null>
  readonly onClose: () => void
}

const items = 'a, button, input'

function isChoice({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('a, button') !== null
}

/** What a menu opens: beside its button, on phones at the bottom edge. It gives the focus back to the button. */
function MenuPopup({ button, role, name, onClose, children }: PopupProps): ComponentChildren {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const popup = element.current
    if (!popup) return undefined
    const opener = button.current
    popup.popover = 'auto'
    // The source anchors it, without a style of its own.
    popup.showPopover(opener ? { source: opener } : {})
    popup.querySelector<HTMLElement>(items)?.focus()
    const onToggle = (event: ToggleEvent): void => void (event.newState === 'closed' && onClose())
    popup.addEventListener('toggle', onToggle)
    return () => {
      popup.removeEventListener('toggle', onToggle)
      if (popup.contains(treeOf(opener).activeElement)) opener?.focus()
    }
  }, [])

  function walk(event: KeyboardEvent): void {
    const all = [...(element.current?.querySelectorAll<HTMLElement>(items) ?? [])]
    const focused = treeOf(element.current).activeElement
    const at = all.findIndex((each) => each === focused)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    all.at(next % all.length)?.focus()
  }

  return (
    <div
      className="fm fm-menu"
      ref={element}
      role={role}
      aria-label={name}
      onKeyDown={walk}
      // The focus is on the button before anything opens that shall give it back.
      onClickCapture={(event) => isChoice(event) && button.current?.focus()}
      onClick={(event) => isChoice(event) && onClose()}
    >
      {children}
    </div>
  )
}

interface MenuItemProps {
  readonly icon?: IconName
  readonly children: ComponentChildren
  readonly onSelect: () => void
}

/** An action of a menu. */
export function MenuItem({ icon, children, onSelect }: MenuItemProps): ComponentChildren {
  return (
    <button type="button" role="menuitem" tabIndex={-1} onClick={onSelect}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}
