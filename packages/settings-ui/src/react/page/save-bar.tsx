/** What is unsaved and what to do about it; also why the last attempt failed. In view as long as it matters. */
import { type ReactNode, useEffect, useLayoutEffect } from 'react'
import { Icon } from '../icons.tsx'
import { MenuButton } from '../menu.tsx'
import { failureText } from '../failure-text.ts'
import { plural } from '../../texts/messages.ts'
import { type EditorState, needsAttention, needsSave } from '../model/editor-state.ts'
import { isSent, splitError } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { listenToKeys, treeOf } from '../tree.ts'

export function SaveBar(): ReactNode {
  const { editor, messages, locale, signInHref, open } = usePage()
  const count = useEditor((state) => state.drafts.size)
  const isSaving = useEditor((state) => state.saving.size > 0)
  const failure = useEditor((state) => state.failure)
  const attention = useEditor((state) => needsAttention(state).length)
  // Preferences are saved one by one: the bar is there for what could not be.
  const isLeft = useEditor(needsSave)
  if (!failure && !attention && !(editor.isOwn ? isLeft : count)) return null
  const isSignedOut = failure?.status === 401
  const isForbidden = failure?.status === 403
  return (
    <div className="fm-bar" role="region" aria-label={messages.unsavedChanges}>
      {failure && !isSignedOut && (
        <p className="fm-failure" role="alert">
          <Icon name="alert" />
          <span>
            {failureText(failure, messages)} {count > 0 && !isForbidden && messages.kept}
          </span>
        </p>
      )}
      {isSignedOut && <SignedOut />}
      {count > 0 && <b>{plural(messages.unsavedCount, count, locale)}</b>}
      {attention > 0 && <Attention />}
      <span className="fm-push" />
      {count > 0 ? (
        <button type="button" className="fm-button is-quiet" onClick={editor.discard}>
          {messages.discard}
        </button>
      ) : (
        <button type="button" className="fm-button" onClick={editor.dismiss}>
          {messages.dismiss}
        </button>
      )}
      {count > 0 && !editor.isOwn && (
        <button type="button" className="fm-button" onClick={() => open({ kind: 'review' })}>
          {messages.review}
        </button>
      )}
      {isSignedOut ? (
        // A page leads there itself: its gate sends to the login.
        <a
          className="fm-button is-main"
          href={signInHref ?? location.pathname}
          target="_blank"
          rel="noopener"
        >
          {messages.signIn}
        </a>
      ) : (
        count > 0 &&
        !isForbidden && (
          <button type="submit" className="fm-button is-main" aria-disabled={isSaving || undefined}>
            {isSaving ? messages.saving : failure ? messages.tryAgain : messages.save}
            <kbd aria-hidden="true">{saveKeys}</kbd>
          </button>
        )
      )}
    </div>
  )
}

const saveKeys = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? '') ? '⌘S' : 'Ctrl S'

/** What was changed since, or never sent, waits for its own save. */
const canGoOn = ({ drafts }: EditorState): boolean => drafts.size > 0 && [...drafts.values()].every(isSent)

/** The session ended while the page was open: nothing is lost, and it goes on when the user comes back. */
function SignedOut(): ReactNode {
  const { editor, messages, save } = usePage()
  const goesOn = useEditor(canGoOn)
  useLayoutEffect(() => {
    const goOn = (): void => {
      if (document.visibilityState !== 'visible') return
      const wasSent = canGoOn(editor.getState())
      editor.dismiss()
      if (wasSent) save()
    }
    addEventListener('focus', goOn)
    return () => removeEventListener('focus', goOn)
  }, [editor, save])
  return (
    <p className="fm-failure" role="alert">
      <Icon name="lock" />
      <span>
        <b>{messages.signedOut}</b> <span className="fm-small">{goesOn && messages.signedOutHint}</span>
      </span>
    </p>
  )
}

/** What cannot be saved as it is: the list of it, and the way to the next one. */
function Attention(): ReactNode {
  const { root, messages, locale, reveal } = usePage()
  const drafts = useEditor((state) => state.drafts)
  const definitions = useEditor((state) => state.definitions)
  const wrong = needsAttention({ definitions, drafts })

  function next(): void {
    const tree = treeOf(root.current)
    const row = tree.activeElement?.closest('[data-key]') ?? tree.querySelector('[data-found]')
    const here = row?.getAttribute('data-key')
    const at = wrong.findIndex(({ key }) => key === here)
    const target = wrong[(at + 1) % wrong.length]
    if (target) reveal(target.key)
  }

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (
        !event.altKey ||
        event.key !== 'ArrowDown' ||
        event.defaultPrevented ||
        event.target instanceof HTMLSelectElement
      )
        return
      event.preventDefault()
      next()
    }
    return listenToKeys(treeOf(root.current), onKey)
  })

  return (
    <span className="fm-pill is-bad fm-attention">
      <Icon name="alert" />
      <MenuButton
        className="fm-link"
        role="group"
        isAbove
        label={plural(messages.needAttention, wrong.length, locale)}
      >
        {(close) =>
          wrong.map(({ key, displayName }) => (
            <a
              key={key}
              href={`#setting:${key}`}
              onClick={(event) => {
                event.preventDefault()
                close()
                reveal(key)
              }}
            >
              <Icon name="alert" />
              <span dir="auto">
                {displayName}
                <span className="fm-small">
                  {(drafts.get(key)?.errors ?? []).map((error) => splitError(error).text).join(' ') ||
                    messages.conflict}
                </span>
              </span>
            </a>
          ))
        }
      </MenuButton>
      <button type="button" className="fm-link" onClick={next}>
        {messages.next}
      </button>
    </span>
  )
}
