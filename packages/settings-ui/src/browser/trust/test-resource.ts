/** Tests a resource with what is entered, and says in the bar what was found. */
import type { ProbeAnswer, SettingsRequestError } from '@fastify-modular/settings/client'
import { SettingType } from '@fastify-modular/settings/client'
import { format, plural } from '../../texts/messages.ts'
import { errorsOfDrafts, firstOf, type Message, readDrafts, withErrors } from '../model/editor-state.ts'
import { relativeTime } from '../model/times.ts'
import { toFailure } from '../model/source.ts'
import type { PageContext } from '../page-context.ts'

type Page = Pick<PageContext, 'api' | 'editor' | 'locale' | 'messages'>

/** An edit, a save or *Stop* ends it: what it would find is about other values, or nobody wants to know. */
export async function testResource(page: Page, resource: string, group: string): Promise<void> {
  const { editor, api, messages, locale } = page
  if (editor.state.message?.kind === 'busy') return
  const keys = editor.state.definitions.flatMap(({ probe, key }) => (probe === resource ? key : []))
  const { entries, errors } = readDrafts(editor.state, keys, messages)
  if (Object.keys(errors).length > 0) return showErrors(page, errors)

  const controller = new AbortController()
  const count = entries.length
  const running: Message = {
    kind: 'busy',
    text:
      count > 0
        ? plural(messages.testingWith, count, locale, { name: group })
        : format(messages.testingNow, { name: group }),
    isOfDrafts: true,
    action: { text: messages.stop, run: editor.dismiss },
  }
  editor.arrive((state) => ({ ...state, failure: null, errors: errorsOfDrafts(state) }))
  editor.say(running)
  const forget = editor.subscribe(() => {
    if (editor.state.message !== running) controller.abort()
  })
  const drafts = Object.fromEntries(entries.map(({ key, value }) => [key, value]))
  const answer = await api.probe(resource, drafts, { signal: controller.signal }).catch(toFailure)
  forget()
  if (editor.state.message !== running) return
  if ('ok' in answer) return editor.say(toMessage(page, answer, { count, group }))
  if (answer.status === 422 && isOnPage(page, answer)) {
    editor.dismiss()
    return showErrors(page, translated(page, answer.errors, count))
  }
  editor.say({ ...toRefusal(page, answer), isOfDrafts: true })
}

function toMessage(
  { messages, locale }: Page,
  { ok, message, requestId: reference }: ProbeAnswer,
  { count, group }: { readonly count: number; readonly group: string },
): Message {
  const isOfDrafts = true
  if (ok) {
    const text = message ?? format(messages.testWorks, { name: group })
    return {
      kind: 'done',
      text,
      isOfDrafts,
      ...(count > 0 && { hint: plural(messages.testedWith, count, locale) }),
    }
  }
  const text = reference === null && message !== null ? message : messages.testFailed
  return { kind: 'bad', text, reference, isOfDrafts, ...(count > 0 && { hint: messages.nothingSaved }) }
}

/** Why there was no test. */
function toRefusal({ editor, messages, locale }: Page, failure: SettingsRequestError): Message {
  const { status, retryAfter, requestId } = failure
  if (status === 429 && retryAfter !== null) {
    const time = relativeTime(new Date(Date.now() + retryAfter * 1000), locale)
    return { kind: 'bad', text: format(messages.testLater, { time }) }
  }
  return { kind: 'bad', text: editor.explain(failure), reference: status >= 500 ? requestId : null }
}

function isOnPage({ editor }: Page, { errors }: SettingsRequestError): boolean {
  const keys = Object.keys(errors)
  return keys.length > 0 && keys.every((key) => editor.state.definitions.some((each) => each.key === key))
}

/** Of a secret without a draft the server says that it has to be entered; where others have one, that is what the test needs. */
function translated(
  { editor, messages }: Page,
  errors: SettingsRequestError['errors'],
  count: number,
): SettingsRequestError['errors'] {
  const { byKey, drafts } = editor.state
  const entries = Object.entries(errors).map(([key, texts]) => {
    const { sensitive, type } = byKey.get(key) ?? {}
    if (!sensitive || drafts.has(key) || count === 0) return [key, texts] as const
    return [key, [type === SettingType.Password ? messages.passwordAgain : messages.secretAgain]] as const
  })
  return Object.fromEntries(entries)
}

/** At the fields, with a draft or without. */
function showErrors({ editor, messages }: Page, errors: SettingsRequestError['errors']): void {
  editor.arrive((state) => {
    const first = firstOf(state, Object.keys(errors))
    return {
      ...withErrors(state, errors),
      message: null,
      focus: first && { ...first, isSought: true },
    }
  })
  const texts = Object.entries(errors).map(([key, all]) => `${editor.nameOf(key)}: ${all.join(' ')}`)
  editor.announce(texts.join(' ') || messages.testFailed)
}
