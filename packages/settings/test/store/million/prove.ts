/** `npm run prove:queries`: the plans at a million rows, and what they cost. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@fastify-modular/test-support/postgres'
import { plansInPostgres } from './postgres.js'
import { plansInSqlite } from './sqlite.js'

/** Of 8 KiB, for one statement: a page of the API, or a portion of work, of some hundred rows. */
const mostPages = 10_000
const size = { rows: Number(process.argv[2] ?? 1_000_000) }

const server = await startPostgres()
const { url } = await server.createDatabase()
const plans = await plansInPostgres(url, size)
await server.stop()
console.table(
  plans
    .filter(({ way }) => way === 'custom')
    .map(({ call, pages, milliseconds }) => ({ call, pages, ms: milliseconds.toFixed(1) })),
)
const scans = plans.filter(({ scanned }) => scanned.length > 0)
for (const { call, way, scanned, text } of scans)
  console.log(`${call}, ${way}: scans ${scanned.join(', ')}\n${text}`)

const folder = await mkdtemp(join(tmpdir(), 'settings-'))
const found = await plansInSqlite(join(folder, 'settings.db'), size)
await rm(folder, { recursive: true })
console.table(found.map(({ call, milliseconds }) => ({ call, ms: milliseconds.toFixed(1) })))
for (const { call, scans: statements } of found)
  for (const text of statements) console.log(`${call}: scans\n${text}`)
const isDear = plans.some(({ pages }) => pages > mostPages)
if (isDear) console.log(`more than ${mostPages} pages`)
process.exitCode = isDear || scans.length > 0 || found.some((plan) => plan.scans.length > 0) ? 1 : 0
