/**
 * A process with a small heap that reads the history of one long value, written 40 times. It prints what each request
 * answered: status, bytes, and entries.
 */
import Fastify, { type FastifyInstance } from 'fastify'
import { setting, settings, SettingScope } from '@fastify-modular/settings'
import type { StorePort } from '#src/store/store.js'
import { storeOf } from '../../store/writer.js'
import { memoryStore } from '../../support/stores.js'

/** What one request answered. */
export interface Answered {
  readonly url: string
  readonly status: number
  readonly bytes: number
  readonly revisions: readonly number[]
}

export const writes = 40
const key = 'app.layout'
const row = { scope: SettingScope.Application, owner: '', key }
const layout = setting.json(key, { displayName: 'Layout', scope: SettingScope.Application })

const database = process.argv[2]
if (process.argv[1] === import.meta.filename && database !== undefined) await main(database)

async function main(name: string): Promise<void> {
  const store = name === 'memory' ? memoryStore() : storeOf(name)
  const app = Fastify()
  const caller = { id: 'editor', permissions: ['Settings.Update'] }
  app.register(settings, { definitions: [layout], store, findCaller: () => caller, history: false })
  await app.ready()
  await write(app, store)
  const answers: Answered[] = []
  for (const path of ['/changes', `/${key}/history`]) answers.push(...(await readAll(app, path)))
  process.stdout.write(JSON.stringify(answers))
  await app.close()
}

/** The first one over HTTP, which shows that such a value is legal. */
async function write(app: FastifyInstance, store: StorePort): Promise<void> {
  const payload = { key, scope: 1, value: JSON.parse(longText(0)) }
  const { statusCode } = await app.inject({ method: 'PUT', url: '/api/settings', payload })
  if (statusCode !== 204) throw new Error(`the value was refused with ${statusCode}`)
  for (let index = 1; index < writes; index++) {
    const change = { ...row, value: longText(index), encrypted: false }
    await store.shared.write({ actor: 'editor', origin: 'api', reads: [row], decide: () => [change] })
  }
}

/** 64 KiB of JSON text, of which a parser makes 21,840 lists. */
function longText(index: number): string {
  return `[${index}${',[]'.repeat(21_840)}]`
}

async function readAll(app: FastifyInstance, path: string): Promise<readonly Answered[]> {
  const answers: Answered[] = []
  let before = ''
  while (answers.length < writes) {
    const response = await app.inject({ url: `/api/settings${path}?limit=500${before}` })
    const { entries, changes, next } = response.json()
    const revisions = (changes ?? entries).map(({ revision }: { revision: number }) => revision)
    const bytes = Buffer.byteLength(response.payload)
    answers.push({ url: path, status: response.statusCode, bytes, revisions })
    if (next === null) break
    before = `&before=${encodeURIComponent(next)}`
  }
  return answers
}
