/** The bar at the end of a page, the only place of messages: what is unsaved, what was done, why something failed, and what to do about it. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import { type ReactNode, useLayoutEffect } from 'react'
import { failureText, hasReference } from '../model/failure-text.ts'
import { Icon, type IconName } from '../icons.tsx'
import { format, plural } from '../../texts/messages.ts'
import { type EditorState, type Message, needsAttention, needsSave } from '../model/editor-state.ts'
import { isSent } from '../model/setting.ts'
import { copyText, useEditor, useNameOf, usePage } from '../page-context.ts'
import { Attention } from './attention.tsx'
import { saveKeys } from './keys.ts'

export function SaveBar(): ReactNode {
  const { editor, messages } = usePage()
  const count = useEditor((state) => state.drafts.size)
  const message = useEditor((state) => state.message)
  const failure = useEditor((state) => state.failure)
  const attention = useEditor((state) => needsAttention(state).length)
  // Preferences are saved one by one: the bar is there for what could not be.
  const isLeft = useEditor(needsSave)
  if (!failure && !message && !attention && !(editor.isOwn ? isLeft : count)) return null
  return (
    <div className="fm-bar" role="region" aria-label={messages.unsavedChanges}>
      {failure ? (
        <Failure failure={failure} />
      ) : (
        message && <Say kind={message.kind} text={message.text} hint={message.hint} />
      )}
      {count > 0 && !failure && <Unsaved count={count} />}
      {attention > 0 && <Attention />}
      <span className="fm-push" />
      {message && !failure && <Answers message={message} />}
      {count > 0 ? (
        <Actions count={count} failure={failure} />
      ) : (
        <button
          type="button"
          className="fm-button is-quiet is-icon"
          aria-label={messages.dismiss}
          onClick={editor.dismiss}
        >
          <Icon name="close" />
        </button>
      )}
    </div>
  )
}

function Unsaved({ count }: { readonly count: number }): ReactNode {
  const { messages, locale } = usePage()
  const isSaving = useEditor((state) => state.saving.size > 0)
  return <b>{plural(isSaving ? messages.saving : messages.unsavedCount, count, locale)}</b>
}

const looks = {
  done: ['is-good', 'check'],
  undone: ['is-muted', 'reset'],
  bad: ['is-bad', 'alert'],
  warn: ['is-warn', 'alert'],
  locked: ['is-warn', 'lock'],
} as const satisfies Record<string, readonly [string, IconName]>

interface SayProps {
  readonly kind: keyof typeof looks
  readonly text: string
  readonly hint?: ReactNode
}

/** A sentence, and a quieter one below it. */
function Say({ kind, text, hint }: SayProps): ReactNode {
  const [look, icon] = looks[kind]
  return (
    <div className={`fm-say ${look}`}>
      <Icon name={icon} />
      <div>
        <b dir="auto">{text}</b>
        {hint && <p className="fm-small">{hint}</p>}
      </div>
    </div>
  )
}

/** What can be done about a message. */
function Answers({ message }: { readonly message: Message }): ReactNode {
  const { editor, messages, open } = usePage()
  const { undo, asks, anyway } = message
  if (anyway) {
    return (
      <>
        <button type="button" className="fm-button" onClick={editor.dismiss}>
          {messages.leaveIt}
        </button>
        <button type="button" className="fm-button is-main is-bad" onClick={anyway}>
          {messages.undoAnyway}
        </button>
      </>
    )
  }
  if (asks !== undefined) {
    return (
      <button type="button" className="fm-button" onClick={() => open({ kind: 'revert', revision: asks })}>
        {messages.undo}…
      </button>
    )
  }
  if (!undo) return null
  return (
    <button type="button" className="fm-button" onClick={undo}>
      {messages.undo}
    </button>
  )
}

function Failure({ failure }: { readonly failure: SettingsRequestError }): ReactNode {
  const { editor, messages, locale } = usePage()
  const nameOf = useNameOf()
  const count = useEditor((state) => state.drafts.size)
  if (failure.status === 401) return <SignedOut />
  if (failure.status === 403 && count > 0) return <Say kind="bad" text={messages.forbidden} />
  const { requestId } = failure
  const hint = failure.status > 0 ? messages.nothingSaved : plural(messages.kept, count, locale)
  return (
    <Say
      kind="bad"
      text={failureText(failure, messages, nameOf)}
      hint={
        count > 0 && (
          <>
            {hint}
            {hasReference(failure) && requestId !== null && (
              <>
                {' '}
                <bdi>{format(messages.reference, { id: requestId })}</bdi>
                <button
                  type="button"
                  className="fm-link"
                  onClick={() => void copyText(requestId, editor, messages)}
                >
                  {messages.copy}
                </button>
              </>
            )}
          </>
        )
      }
    />
  )
}

interface ActionsProps {
  readonly count: number
  readonly failure: SettingsRequestError | null
}

/** What can be done with what is unsaved. */
function Actions({ count, failure }: ActionsProps): ReactNode {
  const { editor, messages, locale, signInHref, open } = usePage()
  const isSaving = useEditor((state) => state.saving.size > 0)
  // A page leads there itself: its gate sends to the login.
  const signIn = (
    <a className="fm-button is-main" href={signInHref ?? location.pathname} target="_blank" rel="noopener">
      {messages.signIn}
    </a>
  )
  const save = (
    <button type="submit" className="fm-button is-main" aria-disabled={isSaving || undefined}>
      {failure ? messages.saveAgain : plural(messages.save, count, locale)}
      <kbd aria-hidden="true">{saveKeys}</kbd>
    </button>
  )
  return (
    <>
      <button type="button" className="fm-button is-quiet" onClick={editor.discard}>
        {messages.discard}
      </button>
      {!editor.isOwn && failure?.status !== 401 && (
        <button type="button" className="fm-button" onClick={() => open({ kind: 'review' })}>
          {messages.review}
        </button>
      )}
      {failure?.status === 401 ? signIn : failure?.status !== 403 && save}
    </>
  )
}

/** What was changed since, or never sent, waits for its own save. */
const canGoOn = ({ drafts }: EditorState): boolean => drafts.size > 0 && [...drafts.values()].every(isSent)

/** The session ended while the page was open: nothing is lost, and it goes on when the user comes back. */
function SignedOut(): ReactNode {
  const { editor, messages, locale, save } = usePage()
  const goesOn = useEditor(canGoOn)
  const count = useEditor((state) => state.drafts.size)
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
    <Say
      kind="locked"
      text={messages.signedOut}
      hint={goesOn && plural(messages.signedOutHint, count, locale)}
    />
  )
}
