/** The search over a long list of groups: no search box, of which a page has one. */
import type { ComponentChildren } from 'preact'
import { Icon } from '../icons.tsx'
import { usePage } from '../page-context.ts'

interface GroupFieldProps {
  readonly value: string
  readonly onInput: (text: string) => void
}

/** Escape clears it. */
export function GroupField({ value, onInput }: GroupFieldProps): ComponentChildren {
  const { messages } = usePage()
  return (
    <span className="fm-field fm-group-field">
      <Icon name="search" />
      <input
        className="fm-bare"
        aria-label={messages.groups}
        placeholder={messages.groups}
        value={value}
        autoComplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || value === '') return
          event.stopPropagation()
          event.preventDefault() // a menu stays open
          onInput('')
        }}
      />
    </span>
  )
}
