import { test } from 'tap'
import { until } from '@fastify-modular/test-support/until'
import { databaseWithAccounts, type Host, person, startHost } from './host.js'

const keys = ['app.title', 'app.banner'] as const

/** What the process had acknowledged when it died. */
interface Acknowledged {
  readonly cookie: string
  readonly notes: string[]
  round: number
}

/** Writes notes and bulks until the process is killed in the middle of it. */
async function writeUntilKilled(host: Host): Promise<Acknowledged> {
  const admin = await host.signIn('admin')
  const acknowledged: Acknowledged = { cookie: admin.cookie, notes: [], round: 0 }
  const isEnough = () => acknowledged.notes.length >= 20 && acknowledged.round >= 20

  async function writeNotes(): Promise<void> {
    for (;;) {
      const note = await admin.ask('/api/notes', { method: 'POST', body: { title: 'Written' } })
      if (note.status === 201) acknowledged.notes.push(note.json.id)
    }
  }
  async function writeBulks(): Promise<void> {
    for (let round = 1; ; round += 1) {
      const body = keys.map((key) => ({ key, scope: 1, value: `round ${round}` }))
      const { status } = await admin.ask('/api/settings/bulk', { method: 'PUT', body })
      if (status === 204) acknowledged.round = round
    }
  }
  const untilDeath = (): void => {} // the connection breaks: that is the end of the work
  const writers = [writeNotes().catch(untilDeath), writeBulks().catch(untilDeath)]
  while (!isEnough()) await host.anonymous.ask('/health/live') // a bounded wait: it fails when the process is gone
  await host.stop('SIGKILL')
  await Promise.all(writers)
  return acknowledged
}

test('a killed process loses no acknowledged write and leaves no half bulk', async (t) => {
  const { DATABASE_URL } = await databaseWithAccounts(t)
  for (let kill = 0; kill < 2; kill += 1) {
    const { notes, round, cookie } = await writeUntilKilled(await startHost(t, { DATABASE_URL }))
    const host = await startHost(t, { DATABASE_URL })
    const admin = person(host.url, cookie)
    for (const id of notes) t.equal((await admin.ask(`/api/notes/${id}`)).status, 200, id)
    const values = await Promise.all(
      keys.map(async (key) => (await admin.ask(`/api/settings/${key}?scope=1`)).json.value),
    )
    t.equal(new Set(values).size, 1, `all of a bulk or nothing: ${values.join(', ')}`)
    const stored = Number(String(values[0]).slice('round '.length))
    t.ok(stored === round || stored === round + 1, `round ${round} was acknowledged, ${stored} is stored`)
    await host.stop()
  }
})

test('mail about shared notes is written, although the process dies right after sharing', async (t) => {
  const { DATABASE_URL } = await databaseWithAccounts(t)
  const first = await startHost(t, { DATABASE_URL })
  const { cookie } = await first.signIn('admin')
  const admin = person(first.url, cookie)
  const titles = Array.from({ length: 10 }, (_, number) => `Note ${number}`)
  const ids: string[] = []
  for (const title of titles) {
    ids.push((await admin.ask('/api/notes', { method: 'POST', body: { title } })).json.id as string)
  }
  const answers = await Promise.all(ids.map((id) => admin.ask(`/api/notes/${id}/share`, { method: 'POST' })))
  await first.stop('SIGKILL')
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))

  const second = await startHost(t, { DATABASE_URL })
  const again = person(second.url, cookie)
  let subjects: string[] = []
  // A lease of the process that died has to end first.
  await until(async () => {
    subjects = (await again.ask('/api/mails')).json.map((mail: { subject: string }) => mail.subject)
    return subjects.length >= titles.length
  })
  const expected = titles.map((title) => `Everybody can read your note “${title}” now`)
  t.same(subjects.toSorted(), expected, 'each once')
})
