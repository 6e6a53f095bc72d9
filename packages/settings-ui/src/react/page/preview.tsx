/** The preview as its author sees it: the toggle, in the header and on phones in the save bar. */
import { type ReactNode, useEffect, useLayoutEffect, useState, useSyncExternalStore } from 'react'
import { createPortal } from 'react-dom'
import type { Messages } from '../../texts/messages.ts'
import { Icon } from '../icons.tsx'
import type { Previewer } from '../model/previewer.ts'
import { usePage } from '../page-context.ts'
import { treeOf } from '../tree.ts'

/** Reports drafts to the host as long as the page is there, and shows the toggle in the host's header, if that has a place for it. */
export function HeaderPreview(): ReactNode {
  const { root, previewer, messages } = usePage()
  const [slot, setSlot] = useState<Element | null>(null)
  useLayoutEffect(() => setSlot(treeOf(root.current).getElementById('fm-preview')), [root])
  useEffect(() => previewer.start(), [previewer])
  return slot && createPortal(<PreviewToggle previewer={previewer} messages={messages} />, slot)
}

interface PreviewToggleProps {
  readonly previewer: Previewer
  readonly messages: Messages
  /** The save bar says itself what was saved. */
  readonly isInBar?: boolean
}

/** What it needs comes as properties: in the header there is no page around it. */
export function PreviewToggle({ previewer, messages, isInBar }: PreviewToggleProps): ReactNode {
  const phase = useSyncExternalStore(previewer.subscribe, previewer.phase)
  if (phase === 'none' || (isInBar && phase === 'saved')) return null
  const isSaved = phase === 'saved'
  return (
    <button
      className="fm fm-try"
      type="button"
      aria-pressed={isSaved ? undefined : phase === 'shown'}
      aria-disabled={isSaved || undefined}
      onClick={previewer.toggle}
    >
      <Icon name={isSaved ? 'check' : 'eye'} />
      {phase === 'hidden' && <span className="fm-hidden">{messages.previewOff} </span>}
      {isSaved ? messages.savedNow : phase === 'shown' ? messages.preview : messages.previewSaved}
    </button>
  )
}
