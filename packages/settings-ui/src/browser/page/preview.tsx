/** The preview as its author sees it: the toggle, in the header and on phones in the save bar. */
import { type ComponentChildren, render } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { Button } from '../button.tsx'
import { type PageContext, usePage } from '../page-context.ts'
import { treeOf } from '../tree.ts'
import { useExternal } from '../use-external.ts'

/** Reports drafts to the host as long as the page is there, and shows the toggle in the host's header, if that has a place for it. */
export function HeaderPreview(): ComponentChildren {
  const page = usePage()
  const { root, previewer } = page
  useEffect(() => previewer.start(), [previewer])
  useLayoutEffect(() => {
    const slot = treeOf(root.current).getElementById('fm-preview')
    if (slot) render(<PreviewToggle page={page} />, slot) // it stays as long as its document
  }, [page, root])
  return null
}

interface PreviewToggleProps {
  /** In the header there is none around it. */
  readonly page: Pick<PageContext, 'editor' | 'previewer' | 'messages'>
  /** The save bar says itself what was saved. */
  readonly isInBar?: boolean
}

export function PreviewToggle({
  page: { editor, previewer, messages },
  isInBar,
}: PreviewToggleProps): ComponentChildren {
  const phase = useExternal(editor.subscribe, () => editor.state.preview)
  if (phase === 'none' || (isInBar && phase === 'saved')) return null
  const isSaved = phase === 'saved'
  return (
    <Button
      className="fm fm-button fm-try"
      icon={isSaved ? 'check' : 'eye'}
      aria-pressed={isSaved ? undefined : phase === 'shown'}
      aria-disabled={isSaved || undefined}
      onClick={previewer.toggle}
    >
      {phase === 'hidden' && <span className="fm-hidden">{messages.previewOff} </span>}
      <span>
        {isSaved ? messages.savedNow : phase === 'shown' ? messages.preview : messages.previewSaved}
      </span>
    </Button>
  )
}
