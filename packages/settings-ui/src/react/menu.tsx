/** Menus: they open beside their button, on phones at the bottom edge, and give the focus back to it. */
import { type KeyboardEvent, type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { Icon, type IconName } from './icons.tsx'
import { treeOf } from './tree.ts'

interface MenuButtonProps {
  /** What the button says, or its accessible name where it shows an icon only. */
  readonly label: ReactNode
  readonly name?: string
  readonly className: string
  /** The content; it is made when the menu opens. */
  readonly children: (close: () => void) => ReactNode
  /** `menu` for actions, `group` for check boxes and links, which Tab walks too. */
  readonly role?: 'menu' | 'group'
  readonly isAbove?: boolean
}

/** A button and the menu that it opens. */
export function MenuButton(props: MenuButtonProps): ReactNode {
  const { label, name, className, children, role = 'menu', isAbove } = props
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  /** The focus is on the button before anything opens that shall give it back. */
  function close(): void {
    button.current?.focus()
    setOpen(false)
  }

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
      {isOpen && (
        <Popup button={button} role={role} name={name} isAbove={isAbove} onClose={() => setOpen(false)}>
          {children(close)}
        </Popup>
      )}
    </>
  )
}

interface PopupProps {
  readonly button: RefObject<HTMLButtonElement | null>
  readonly role: 'menu' | 'group'
  readonly name: string | undefined
  readonly isAbove: boolean | undefined
  readonly onClose: () => void
  readonly children: ReactNode
}

const items = 'a, button, input'

function Popup({ button, role, name, isAbove, onClose, children }: PopupProps): ReactNode {
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
      className={isAbove ? 'fm fm-menu is-up' : 'fm fm-menu'}
      ref={element}
      role={role}
      aria-label={name}
      onKeyDown={walk}
    >
      {children}
    </div>
  )
}

interface MenuItemProps {
  readonly icon?: IconName
  readonly children: ReactNode
  readonly onSelect: () => void
}

/** An action of a menu. */
export function MenuItem({ icon, children, onSelect }: MenuItemProps): ReactNode {
  return (
    <button type="button" role="menuitem" tabIndex={-1} onClick={onSelect}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}
