/** What cannot be saved as it is: the list of it, and the way to the next one. */
import { type ReactNode, useRef } from 'react'
import { Button } from '../button.tsx'
import { Icon } from '../icons.tsx'
import { MenuButton } from '../menu.tsx'
import { plural } from '../../texts/messages.ts'
import { type Definition, splitError } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { treeOf } from '../tree.ts'

export function Attention({ wrong }: { readonly wrong: readonly Definition[] }): ReactNode {
  const { root, messages, locale, reveal } = usePage()
  const drafts = useEditor((state) => state.drafts)
  const isToDecide = wrong.every(({ key }) => drafts.get(key)?.theirs)
  /** Where the last step led. */
  const last = useRef('')

  function go(key: string): void {
    last.current = key
    reveal(key)
  }

  function next(): void {
    const focused = treeOf(root.current).activeElement?.closest('[data-key]')?.getAttribute('data-key')
    const at = wrong.findIndex(({ key }) => key === (focused ?? last.current))
    const target = wrong[(at + 1) % wrong.length]
    if (target) go(target.key)
  }

  return (
    <span className={`fm-pill fm-attention ${isToDecide ? 'is-warn' : 'is-bad'}`}>
      <Icon name="alert" />
      <MenuButton
        className="fm-link"
        role="group"
        isAbove
        label={plural(isToDecide ? messages.toDecide : messages.needAttention, wrong.length, locale)}
      >
        {wrong.map(({ key, displayName }) => (
          <a
            key={key}
            href={`#setting:${key}`}
            onClick={(event) => {
              event.preventDefault()
              go(key)
            }}
          >
            <Icon name="alert" />
            <span dir="auto">
              {displayName}
              <span className="fm-small">
                {(drafts.get(key)?.errors ?? []).map((error) => splitError(error).text).join(' ') ||
                  messages.decideFirst}
              </span>
            </span>
          </a>
        ))}
      </MenuButton>
      <Button look="link" onClick={next} text={messages.next} />
    </span>
  )
}
