import { join } from 'node:path'
import { test } from 'tap'
import { type Host, person, startHost, tempFolder } from './host.js'

const keys = ['app.title', 'app.banner', 'app.timezone'] as const

/** Writes until the process dies; returns what was acknowledged. */
async function writeUntilKilled(host: Host): Promise<{ notes: string[]; round: number; cookie: string }> {
  const admin = await host.signIn('admin')
  const notes: string[] = []
  let round = 0
  const until = (work: () => Promise<void>) => work().catch(() => {}) // the death of the server ends the work

  const writeNotes = until(async () => {
    for (;;) {
      const note = await admin.ask('/api/notes', { method: 'POST', body: { title: `Note ${notes.length}` } })
      if (note.status === 201) notes.push(note.json.id)
    }
  })
  const writeBulks = until(async () => {
    for (let next = 1; ; next += 1) {
      const body = keys.map((key) => ({ key, scope: 1, value: `round ${next}` }))
      if ((await admin.ask('/api/settings/bulk', { method: 'PUT', body })).status === 204) round = next
    }
  })
  while (notes.length < 20 || round < 20) await host.anonymous.ask('/health') // a bounded wait: fails when it dies early
  await host.stop('SIGKILL')
  await Promise.all([writeNotes, writeBulks])
  return { notes, round, cookie: admin.cookie }
}

test(
  'a killed process loses no acknowledged write and leaves no half bulk',
  { timeout: 60_000 },
  async (t) => {
    const DATABASE_URL = `sqlite:${join(await tempFolder(t), 'host.sqlite')}`
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
  },
)
