/**
 * An instance of an application that writes settings without a pause, to be killed. It prints its address. `POST /quiet`
 * ends its writes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import { postgres } from '@fastify-modular/settings/postgres'
import { sqlite } from '@fastify-modular/settings/sqlite'
import Fastify from 'fastify'

const { System, Application, User } = SettingScope

/** Who reads and writes. */
export const callers = Array.from({ length: 12 }, (_, index) => `caller-${index}`)

/** A value names who may see it: every one a word of its own. */
export const words = { public: 'for-everybody', shared: 'for-callers', secret: 'for-nobody', own: 'for-one' }

const text = (key: string, scope: SettingScope, more = {}) =>
  setting.text(key, { displayName: key, scope, ...more })
const definitions = [
  ...['public.a', 'public.b'].map((key) => text(key, Application, { public: true })),
  ...['shared.a', 'shared.b'].map((key) => text(key, Application)),
  text('shared.system', System),
  text('secret.a', Application, { sensitive: true }),
  text('own.a', User),
]

async function main(database: string): Promise<void> {
  const app = Fastify({ pluginTimeout: 60_000 })
  await app.register(settings, {
    definitions,
    store: database.startsWith('postgres:')
      ? postgres({ connectionString: database }, { pollInterval: 1000 })
      : sqlite({ file: database }, { pollInterval: 20 }),
    findCaller: ({ headers: { 'x-caller': id } }) =>
      typeof id === 'string' ? { id, isAdmin: true, permissions: ['Settings.Update'] } : null,
  })
  const { contract } = app.settings
  let count = 0
  const value = (word: string) => `${word} ${process.pid} ${count++}`
  const writes = [
    () => contract.setSetting('public.a', value(words.public), Application),
    () => contract.setSetting('shared.system', value(words.shared), System),
    () => contract.setSetting('secret.a', value(words.secret), Application),
    () => contract.setSetting('own.a', value(words.own), User, callers[count % callers.length]),
    () =>
      contract.setMany([
        { key: 'public.b', scope: Application, value: value(words.public) },
        ...['shared.a', 'shared.b'].map((key) => ({ key, scope: Application, value: value(words.shared) })),
      ]),
  ]
  const quiet = new AbortController()
  const end = async (): Promise<object> => {
    quiet.abort()
    await written
    return {}
  }
  app.post('/quiet', end)
  process.once('SIGTERM', () => void end().then(() => app.close()))
  process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
  const written = (async () => {
    while (!quiet.signal.aborted) {
      // Writes fail while the database is away; this is about what readers see.
      await writes[Math.floor(Math.random() * writes.length)]?.().catch(() => {})
      await sleep(30 * Math.random())
    }
  })()
}

const [, file, database] = process.argv
if (file === import.meta.filename && database !== undefined) await main(database)
