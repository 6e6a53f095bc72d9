/** Buttons that open menus, and what stands in these. */
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'
import type { MenuButtonProps } from './menu-popup.tsx'
import { laterPart, usePart } from './use-more.ts'

/** A button and the menu that it opens. */
export function MenuButton(props: MenuButtonProps): ComponentChildren {
  const { label, name, className, role = 'menu' } = props
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const later = usePart(laterPart, isOpen)
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
      {later && <later.MenuPopup {...props} role={role} button={button} onClose={() => setOpen(false)} />}
    </>
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
