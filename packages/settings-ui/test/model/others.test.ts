/** What others change arrives by the stream, over the real API: shown, named and said once, and never over what was entered. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type BulkSettingUpdate, setting, SettingScope } from '@fastify-modular/settings'
import { createSettingsClient } from '@fastify-modular/settings/client'
import { followSettings } from '@fastify-modular/settings/client/internal'
import fc from 'fast-check'
import { test } from 'tap'
import { textsOf } from '#src/texts/texts.js'
import { SettingsEditor } from '#src/browser/model/editor.js'
import { toArrival } from '#src/browser/model/news.js'
import { createAccess, ownSource, sharedSource } from '#src/browser/model/source.js'
import { Arrivals } from '#src/browser/others/arrivals.js'
import { definitions } from '../support/definitions.js'
import { type HostOptions, startHost } from '../support/host.js'

const { Application, System } = SettingScope

type Test = Parameters<typeof startHost>[0]

interface Window {
  readonly user?: string
  readonly isOwn?: boolean
  readonly callerId?: string
}

const people: HostOptions = {
  settings: { findPeople: async (ids) => Object.fromEntries(ids.map((id) => [id, id.toUpperCase()])) },
}

/** A page that is open, without a browser. */
async function openWindow(t: Test, url: string, signedIn: Window = {}) {
  const { user = 'ada', isOwn = false, callerId = user } = signedIn
  const requests: string[] = []
  const down = new Set<string>()
  const baseUrl = `${url}/api/settings`
  const request: typeof fetch = async (input, init) => {
    requests.push(String(input))
    if (down.has(new URL(String(input)).pathname)) throw new TypeError('fetch failed')
    const headers = { ...(init?.headers as object), cookie: `user=${signedIn.user ?? user}` }
    return fetch(input, { ...init, headers })
  }
  const access = createAccess({ baseUrl }, () => undefined, request)
  const api = createSettingsClient(access)
  const looks = { read: 0 }
  const page = {
    messages: textsOf('en'),
    locale: 'en',
    canUpdate: true,
    callerId,
    preview: { 'app.title': 'title', 'app.banner': 'banner' } as const,
    readLook: () => void looks.read++,
  }
  const editor = new SettingsEditor(
    isOwn ? ownSource(api) : sharedSource(api),
    () => page,
    () => undefined,
  )
  await editor.load()
  const said: string[] = []
  const held = new Set<string>()
  const arrivals = new Arrivals({
    page: () => page,
    api,
    access,
    editor,
    onOpen: () => undefined,
    mayShow: (key) => !held.has(key),
    onShown: () => undefined,
    say: (text) => said.push(text),
  })
  const end = followSettings({ baseUrl, fetch: request }, arrivals)
  const unsubscribe = editor.subscribe(() => queueMicrotask(arrivals.show))
  t.teardown(() => {
    unsubscribe()
    end()
    arrivals.stop()
  })
  const shown = (key: string) => editor.state.values.get(key)?.value
  return {
    access,
    editor,
    arrivals,
    said,
    held,
    requests,
    looks,
    down,
    shown,
    enter(key: string, input: string | boolean) {
      const definition = editor.state.byKey.get(key)
      if (definition) editor.edit(definition, input)
    },
    newsOf: (key: string) => editor.state.news.get(key),
    draftOf: (key: string) => editor.state.drafts.get(key),
    /** Resolves when it is true; the test runs into its time-out if it never is. */
    async until(isTrue: () => boolean) {
      while (!isTrue()) await sleep(5)
    },
  }
}

test('what somebody else saves is in the row, with the value before and their name, and is said', async (t) => {
  const { url, app } = await startHost(t, people)
  const { shown, newsOf, editor, said, until } = await openWindow(t, url)
  await app.settings.set('app.title', 'Theirs', { actor: 'eli' })
  await until(() => said.length > 0)
  t.equal(shown('app.title'), 'Theirs')
  t.match(newsOf('app.title'), { from: { value: 'Fastify Modular' }, by: 'eli', isFresh: true })
  t.equal(editor.state.people.get('eli'), 'ELI')
  t.same(said, ['ELI changed Title'])
  t.equal(editor.state.message, null, 'the bar says nothing')
})

test('what shows around the page is asked for once a revision, whoever has changed it', async (t) => {
  const { url, app } = await startHost(t)
  const shared = await openWindow(t, url)
  const own = await openWindow(t, url, { user: 'vera', isOwn: true })
  const looksAfter = async (size: number) => {
    await app.settings.set('user.page_size', size, { actor: 'eli' })
    for (const { shown, until } of [shared, own]) await until(() => shown('user.page_size') === size)
    return [shared.looks.read, own.looks.read]
  }
  t.same(await looksAfter(21), [0, 1], 'a preference may choose theme or language')
  const entries = ['app.title', 'app.banner'].map((key) => ({ key, scope: Application, value: 'Theirs' }))
  await app.settings.contract.setMany(entries, { actor: 'eli' })
  t.same(await looksAfter(22), [1, 3])
  shared.enter('app.title', 'Mine')
  await shared.editor.save()
  t.same(await looksAfter(23), [1, 5])
})

test('a name that could not be read is asked for with the next change', async (t) => {
  const { url, app } = await startHost(t, people)
  const { editor, newsOf, requests, down, until } = await openWindow(t, url)
  down.add('/api/settings/changes')
  await app.settings.set('app.title', 'One', { actor: 'eli' })
  await until(() => newsOf('app.title') !== undefined && requests.some((path) => path.endsWith('/changes')))
  t.equal(editor.state.people.get('eli'), undefined)
  down.clear()
  await app.settings.set('app.title', 'Two', { actor: 'eli' })
  await until(() => editor.state.people.get('eli') === 'ELI')
})

test('one change set of many settings is one sentence, and one request for all names', async (t) => {
  const { url, app } = await startHost(t, people)
  const { editor, said, requests, until } = await openWindow(t, url)
  requests.length = 0
  const entries: BulkSettingUpdate[] = [
    { key: 'app.title', scope: Application, value: 'A' },
    { key: 'app.sign_up', scope: Application, value: true },
    { key: 'app.style', scope: Application, value: 'dense' },
    { key: 'mail.port', scope: System, value: 25 },
    { key: 'mail.password', scope: System, value: 'hush' },
  ]
  await app.settings.contract.setMany(entries, { actor: 'eli' })
  await until(() => said.length > 0)
  t.same(said, ['ELI changed 5 settings'])
  t.equal(editor.state.news.size, 5)
  t.same(
    requests.filter((each) => !each.endsWith('/stream')).map((each) => new URL(each).pathname),
    ['/api/settings/changes'],
  )
})

test('what one saves oneself is no news, here and in another window', async (t) => {
  const { url } = await startHost(t, people)
  const one = await openWindow(t, url)
  const other = await openWindow(t, url)
  one.enter('app.title', 'Mine')
  one.enter('mail.password', 'hush')
  await one.editor.save()
  await other.until(() => other.shown('app.title') === 'Mine')
  // What follows in the stream has come by then.
  const eve = await openWindow(t, url, { user: 'eve' })
  eve.enter('app.style', 'dense')
  await eve.editor.save()
  for (const { editor, said, until } of [one, other]) {
    await until(() => said.length > 0)
    t.same([...editor.state.news.keys()], ['app.style'])
    t.same(said, ['EVE changed Style'])
    t.equal(editor.state.drafts.size, 0)
  }
})

test('two changes at once are one, from the first value on; back to it, they are none', async (t) => {
  const { url, app } = await startHost(t)
  const { shown, newsOf, until } = await openWindow(t, url)
  const save = (value: string) => app.settings.set('app.title', value, { actor: 'eli' })
  await save('B')
  await save('C')
  await until(() => shown('app.title') === 'C')
  t.equal(newsOf('app.title')?.from.value, 'Fastify Modular')
  await save('Fastify Modular')
  await until(() => shown('app.title') === 'Fastify Modular')
  t.equal(newsOf('app.title'), undefined)
})

test('a draft meets another value before it is saved, and saving it writes nothing until one is chosen', async (t) => {
  const { url, app } = await startHost(t)
  const { enter, draftOf, editor, newsOf, until, said } = await openWindow(t, url)
  enter('app.title', 'Mine')
  enter('mail.password', 'mine')
  await app.settings.set('app.title', 'Theirs', { actor: 'eli' })
  await app.settings.set('mail.password', 'theirs', { actor: 'eli' })
  await until(() => said.length > 0 && draftOf('mail.password')?.theirs !== undefined)
  t.match(draftOf('app.title'), { input: 'Mine', theirs: { value: 'Theirs', updatedBy: 'eli' } })
  t.equal(newsOf('app.title'), undefined)
  await editor.save()
  t.equal(app.settings.get(definitions.title), 'Theirs')
  t.equal(editor.state.failure, null, 'the rows say what to do')
  for (const key of ['app.title', 'mail.password']) {
    const definition = editor.state.byKey.get(key)
    if (definition) editor.keepMine(definition)
  }
  await editor.save()
  t.equal(app.settings.get(definitions.title), 'Mine')
  t.equal(app.settings.get(definitions.password), 'mine')
})

test('there is nothing to decide where both say the same, or where the value of before is back', async (t) => {
  const { url, app } = await startHost(t)
  const { enter, draftOf, editor, shown, until } = await openWindow(t, url)
  enter('app.title', 'Mine')
  enter('app.style', 'dense')
  await app.settings.set('app.style', 'playful', { actor: 'eli' })
  await until(() => draftOf('app.style')?.theirs !== undefined)
  await app.settings.set('app.style', 'calm', { actor: 'eli' })
  await app.settings.set('app.title', 'Mine', { actor: 'eli' })
  await until(() => draftOf('app.title') === undefined)
  t.equal(shown('app.title'), 'Mine')
  t.same(draftOf('app.style'), { input: 'dense' })
  await editor.save()
  t.equal(app.settings.get(definitions.style), 'dense', 'on the version of now')
})

test('a value that somebody resets says who it was, though its row is gone', async (t) => {
  const { url, app } = await startHost(t, people)
  await app.settings.set('app.title', 'Set', { actor: 'eli' })
  await app.settings.set('app.style', 'dense', { actor: 'eli' })
  const { enter, draftOf, shown, newsOf, until } = await openWindow(t, url)
  enter('app.style', 'playful')
  await app.settings.contract.resetToDefault('app.title', Application, undefined, { actor: 'bob' })
  await app.settings.contract.resetToDefault('app.style', Application, undefined, { actor: 'bob' })
  await until(() => draftOf('app.style')?.theirs !== undefined && newsOf('app.title') !== undefined)
  t.equal(shown('app.title'), 'Fastify Modular')
  t.match(newsOf('app.title'), { from: { value: 'Set' }, by: 'bob' })
  t.match(draftOf('app.style'), { theirs: { value: 'calm', updatedBy: 'bob' } })
})

test('a long value is read, a secret is not; the page never has it', async (t) => {
  const { url, app } = await startHost(t)
  const { shown, newsOf, requests, until } = await openWindow(t, url)
  requests.length = 0
  await app.settings.set('mail.password', 'hush', { actor: 'eli' })
  await app.settings.set('app.banner', 'long '.repeat(2000), { actor: 'eli' })
  await until(() => shown('app.banner') !== null && newsOf('mail.password') !== undefined)
  t.equal(shown('app.banner'), 'long '.repeat(2000))
  t.equal(shown('mail.password'), null)
  t.equal(requests.filter((each) => /password/.test(each)).length, 0)
})

test('what would disturb waits, and an own save in the meantime is not lost to it', async (t) => {
  const { url, app } = await startHost(t)
  const { shown, held, arrivals, enter, draftOf, editor, until, newsOf } = await openWindow(t, url)
  held.add('app.title').add('app.style')
  await app.settings.set('app.title', 'Theirs', { actor: 'eli' })
  await app.settings.set('app.style', 'dense', { actor: 'eli' })
  await app.settings.set('app.sign_up', true, { actor: 'eli' })
  await until(() => shown('app.sign_up') === true)
  t.same([shown('app.title'), shown('app.style')], ['Fastify Modular', 'calm'])
  held.delete('app.style')
  arrivals.show()
  t.equal(shown('app.style'), 'dense')
  t.ok(newsOf('app.style'))
  enter('app.title', 'Mine')
  await editor.save()
  t.match(draftOf('app.title')?.theirs, { value: 'Theirs' }, 'the conflict that a save finds')
  held.clear()
  arrivals.show()
  t.equal(draftOf('app.title')?.input, 'Mine')
})

test('preferences that are changed in another window follow, without a name; so does the default', async (t) => {
  const { url, app } = await startHost(t)
  const { shown, editor, until, said } = await openWindow(t, url, { user: 'vera', isOwn: true })
  await app.settings.contract.setSetting('user.theme', 'dark', SettingScope.User, 'vera')
  await until(() => shown('user.theme') === 'dark')
  await app.settings.set('user.page_size', 50, { actor: 'eli' })
  await until(() => shown('user.page_size') === 50)
  t.equal(editor.state.news.size, 0)
  t.same(said, [])
})

test('Undo of a preference goes when another window has saved since', async (t) => {
  const { url, app } = await startHost(t)
  const { shown, editor, enter, until } = await openWindow(t, url, { user: 'vera', isOwn: true })
  enter('user.theme', 'dark')
  await editor.commit('user.theme')
  t.ok(editor.state.saved.has('user.theme'))
  await app.settings.contract.setSetting('user.theme', 'light', SettingScope.User, 'vera')
  await until(() => shown('user.theme') === 'light')
  t.notOk(editor.state.saved.has('user.theme'), 'it would take back what is newer')
})

test('a row that is older than the answer to a write from here is not taken', (t) => {
  const known = { key: 'a', version: 0, revision: 9, value: 1, locked: false } as never
  const older = { key: 'a', version: 8, value: 2, locked: false }
  t.equal(toArrival(known, older, { revision: 8, isSecret: false }), undefined, 'reset here in revision 9')
  t.match(
    toArrival(known, older, { revision: 0, isSecret: false })?.value,
    { value: 2 },
    'a restored database',
  )
  t.match(toArrival(known, { ...older, version: 10 }, { revision: 10, isSecret: false })?.value, { value: 2 })
  t.end()
})

test('drafts wait for whoever has entered them, while somebody else is signed in', async (t) => {
  const { url, app } = await startHost(t)
  const signedIn = { user: 'ada' }
  const { access, editor, enter, draftOf, shown, until } = await openWindow(t, url, signedIn)
  await until(() => editor.isLive)
  enter('app.title', 'Mine')
  signedIn.user = 'eve'
  app.settings.endStreams('ada')
  await until(() => editor.state.failure?.status === 401)
  await app.settings.set('app.banner', 'For Eve', { actor: 'eve' })
  await editor.save()
  t.match([editor.state.failure?.status, draftOf('app.title')?.input], [401, 'Mine'])
  t.equal(app.settings.get(definitions.title), 'Fastify Modular')
  t.not(shown('app.banner'), 'For Eve')

  signedIn.user = 'ada'
  app.settings.endStreams('eve')
  await until(() => !access.isOthers && shown('app.banner') === 'For Eve')
  t.equal(editor.state.failure, null)
  await editor.save()
  t.equal(app.settings.get(definitions.title), 'Mine')
})

const step = fc.record({
  who: fc.constantFrom(0, 1),
  does: fc.constantFrom('enter', 'enter', 'save', 'undo', 'decide', 'reset'),
  key: fc.constantFrom('app.title', 'app.style'),
  value: fc.constantFrom('calm', 'dense', 'playful'),
})

test('random edits of two people: what was entered stays, what is shown is what is stored', async (t) => {
  const { url, app } = await startHost(t, {
    settings: {
      definitions: [
        { style: definitions.style },
        { title: setting.text('app.title', { displayName: 'Title', scope: Application }) },
      ],
      overrides: {},
    },
  })
  const windows = [await openWindow(t, url), await openWindow(t, url, { user: 'eve' })]
  const keys = ['app.title', 'app.style'] as const
  const stored = () => app.settings.status.revision
  const storedOf = (key: string) => app.settings.contract.getSettingValue(key, Application)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      for (const { who, does, key, value } of steps) {
        const window = windows[who]
        const definition = window?.editor.state.byKey.get(key)
        if (!window || !definition) continue
        const { editor, enter, draftOf } = window
        const before = draftOf(key)
        if (does === 'enter') enter(key, value)
        else if (does === 'undo') editor.undo(key)
        else if (does === 'reset') await editor.reset(definition)
        else if (does === 'decide') editor.keepMine(definition)
        else {
          const isUndecided = [...editor.state.drafts.values()].some(({ theirs }) => theirs)
          const revision = stored()
          await editor.save()
          if (isUndecided) t.equal(stored(), revision, 'nothing is written over what is undecided')
        }
        if (does === 'save' && before)
          t.ok(draftOf(key) === undefined || draftOf(key)?.input === before.input)
        await arrived()
      }
      for (const { editor } of windows) editor.discard()
      for (const { shown } of windows)
        for (const name of keys) t.equal(shown(name), (await storedOf(name))?.value)
    }),
    { numRuns: 30 },
  )

  /** Resolves when both windows know what is stored. */
  async function arrived(): Promise<void> {
    for (const name of keys) {
      const version = (await storedOf(name))?.version
      for (const { until, draftOf, editor } of windows)
        await until(() => (draftOf(name)?.theirs ?? editor.state.values.get(name))?.version === version)
    }
  }
})
