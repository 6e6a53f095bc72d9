/** What just happened, with a way back. Its region is always there, so that screen readers announce what appears in it. */
import type { ReactNode } from 'react'
import { Icon } from './drawings.tsx'
import { useTexts } from './shared.ts'

export interface News {
  readonly text: string
  readonly isBad?: boolean
  readonly onUndo?: () => void
}

/** It stays until something else happens or it is dismissed: an Undo must not run away. */
export function Toast({ news, onDismiss }: { news: News | null; onDismiss: () => void }): ReactNode {
  const texts = useTexts()
  return (
    <div role="status" aria-live={news?.isBad ? 'assertive' : 'polite'}>
      {news ? (
        <div className={news.isBad ? 'row toast is-bad' : 'row toast'}>
          <span>{news.text}</span>
          {news.onUndo ? (
            <button type="button" className="button quiet" onClick={news.onUndo}>
              {texts.undo}
            </button>
          ) : null}
          <button type="button" className="icon-button" aria-label={texts.dismiss} onClick={onDismiss}>
            <Icon name="close" />
          </button>
        </div>
      ) : null}
    </div>
  )
}
