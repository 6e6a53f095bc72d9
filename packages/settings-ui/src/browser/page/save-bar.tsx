/** The bar at the end of a page, the only place of messages: what is unsaved, what was done, why something failed, and what to do about it. */
import type { SettingsRequestError } from '@fastify-modular/settings/client'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { format, plural } from '../../texts/messages.ts'
import { Button } from '../button.tsx'
import { Icon, type IconName } from '../icons.tsx'
import { MenuButton } from '../menu.tsx'
import { type EditorState, type Message, needsAttention, needsSave } from '../model/editor-state.ts'
import { type Definition, isSent, splitError } from '../model/setting.ts'
import { useEditor, usePage } from '../page-context.ts'
import { PreviewToggle } from './preview.tsx'
import { SignInLink } from '../sign-in.tsx'
import { shortCutName, treeOf } from '../tree.ts'

export function SaveBar(): ComponentChildren {
  const page = usePage()
  const { editor, messages, locale } = page
  const state = useEditor((each) => each)
  const { message, failure, saving } = state
  const count = state.drafts.size
  const attention = needsAttention(state)
  // Preferences are saved one by one: the bar is there for what could not be.
  const isLeft = editor.isOwn ? needsSave(state) : count > 0
  if (!failure && !message && attention.length === 0 && !isLeft) return null
  return (
    <div className="fm-bar fm-line" part="bar" role="region" aria-label={messages.unsavedChanges}>
      {failure ? <Failure failure={failure} count={count} /> : message && <Say {...message} />}
      {count > 0 && !failure && !message?.isOfDrafts && (
        <b>{plural(saving.size > 0 ? messages.saving : messages.unsavedCount, count, locale)}</b>
      )}
      {attention.length > 0 && <Attention wrong={attention} />}
      <PreviewToggle page={page} isInBar />
      <span className="fm-push fm-buttons fm-line">
        {message && !failure && <Answers message={message} />}
        {count === 0 && message?.kind !== 'busy' && (
          <Button look="quiet" aria-label={messages.dismiss} onClick={editor.dismiss} icon="close" />
        )}
      </span>
      {count > 0 && message?.kind !== 'busy' && <Actions count={count} failure={failure} message={message} />}
    </div>
  )
}

const looks = {
  done: ['is-good', 'check'],
  undone: ['is-muted', 'reset'],
  bad: ['is-bad', 'alert'],
  warn: ['is-warn', 'alert'],
  locked: ['is-warn', 'lock'],
  busy: ['is-busy', 'ring'],
} as const satisfies Record<string, readonly [string, IconName]>

interface SayProps {
  readonly kind: keyof typeof looks
  readonly text: string
  readonly hint?: ComponentChildren
  readonly reference?: Message['reference']
}

/** A sentence, and a quieter one below it. */
function Say({ kind, text, hint, reference }: SayProps): ComponentChildren {
  const { editor, messages } = usePage()
  const [look, icon] = looks[kind]
  return (
    <div className={`fm-say ${look}`}>
      <Icon name={icon} />
      <div>
        <b dir="auto">{text}</b>
        {(hint || reference) && (
          <p className="fm-small">
            {hint}
            {reference && (
              <>
                {' '}
                <bdi>{format(messages.reference, { id: reference })}</bdi>
                <Button look="link" onClick={() => void editor.copy(reference)} text={messages.copy} />
              </>
            )}
          </p>
        )}
      </div>
    </div>
  )
}

/** What can be done about a message. */
function Answers({
  message: { undo, asks, anyway, action },
}: {
  readonly message: Message
}): ComponentChildren {
  const { editor, messages } = usePage()
  if (anyway) {
    return (
      <>
        <Button onClick={editor.dismiss} text={messages.leaveIt} />
        <Button look="danger" onClick={anyway} text={messages.undoAnyway} />
      </>
    )
  }
  if (action) return <Button onClick={action.run} text={action.text} />
  const ask = asks === undefined ? undefined : (): void => editor.open({ kind: 'revert', revision: asks })
  const run = ask ?? undo
  if (!run) return null
  return (
    <Button onClick={run}>
      {messages.undo}
      {ask && '…'}
    </Button>
  )
}

interface FailureProps {
  readonly count: number
  readonly failure: SettingsRequestError
}

function Failure({ failure, count }: FailureProps): ComponentChildren {
  const { editor, messages, locale } = usePage()
  const { status, requestId } = failure
  if (status === 401) return <SignedOut count={count} />
  if (status === 403 && count > 0) return <Say kind="bad" text={messages.forbidden} />
  // Others stand in no log of the server.
  const reference = status === 400 || status >= 500 ? requestId : null
  const hint = status > 0 ? messages.nothingSaved : plural(messages.kept, count, locale)
  const more = count > 0 && { hint, reference }
  return <Say kind="bad" text={editor.explain(failure)} {...more} />
}

interface ActionsProps {
  readonly count: number
  readonly failure: SettingsRequestError | null
  readonly message: Message | null
}

/** What can be done with what is unsaved. */
function Actions({ count, failure, message }: ActionsProps): ComponentChildren {
  const { editor, messages, locale } = usePage()
  const isSaving = useEditor((state) => state.saving.size > 0)
  if (isSaving) return <Button look="main" type="submit" aria-disabled text={messages.savingNow} />
  const save = (
    <Button type="submit" look={message?.kind === 'bad' ? 'plain' : 'main'}>
      {failure ? messages.saveAgain : plural(messages.save, count, locale)}
      <kbd aria-hidden="true">{shortCutName('S')}</kbd>
    </Button>
  )
  return (
    <>
      <Button look="quiet" onClick={editor.discard} text={messages.discard} />
      {!editor.isOwn && !message?.isOfDrafts && failure?.status !== 401 && (
        <Button onClick={() => editor.open({ kind: 'review' })} text={messages.review} />
      )}
      {failure?.status === 401 ? <SignInLink text={messages.signIn} /> : failure?.status !== 403 && save}
    </>
  )
}

/** What was changed since, or never sent, waits for its own save. */
const canGoOn = ({ drafts }: EditorState): boolean => drafts.size > 0 && [...drafts.values()].every(isSent)

/** The session ended while the page was open: nothing is lost, and it goes on when the user comes back. */
function SignedOut({ count }: { readonly count: number }): ComponentChildren {
  const { editor, messages, locale } = usePage()
  const goesOn = useEditor(canGoOn)
  useLayoutEffect(() => {
    const goOn = (): void => {
      if (document.visibilityState !== 'visible') return
      const wasSent = canGoOn(editor.state)
      editor.dismiss()
      if (wasSent) editor.submit()
    }
    addEventListener('focus', goOn)
    return () => removeEventListener('focus', goOn)
  }, [editor])
  const hint = goesOn && plural(messages.signedOutHint, count, locale)
  return <Say kind="locked" text={messages.signedOut} hint={hint} />
}

function Attention({ wrong }: { readonly wrong: readonly Definition[] }): ComponentChildren {
  const { root, editor, messages, locale } = usePage()
  const { drafts, errors } = useEditor((state) => state)
  const isToDecide = wrong.every(({ key }) => drafts.get(key)?.theirs)
  /** Where the last step led, or the save that failed. */
  const last = useEditor(({ focus }) => (focus?.isSought ? focus.key : undefined))

  function next(): void {
    const focused = treeOf(root.current).activeElement?.closest('[data-key]')?.getAttribute('data-key')
    const at = wrong.findIndex(({ key }) => key === (focused ?? last))
    const target = wrong[(at + 1) % wrong.length]
    if (target) editor.reveal(target.key)
  }

  return (
    <span className={`fm-pill fm-attention ${isToDecide ? 'is-warn' : 'is-bad'}`}>
      <Icon name="alert" />
      <MenuButton
        className="fm-link"
        role="group"
        label={plural(isToDecide ? messages.toDecide : messages.needAttention, wrong.length, locale)}
      >
        {wrong.map(({ key, displayName }) => (
          <a
            key={key}
            href={`#setting:${key}`}
            onClick={(event) => {
              event.preventDefault()
              editor.reveal(key)
            }}
          >
            <Icon name="alert" />
            <span>
              <span dir="auto">{displayName}</span>
              <span className="fm-small" dir="auto">
                {errors
                  .get(key)
                  ?.map((error) => splitError(error).text)
                  .join(' ') ?? messages.decideFirst}
              </span>
            </span>
          </a>
        ))}
      </MenuButton>
      <Button look="link" onClick={next} text={messages.next} />
    </span>
  )
}
