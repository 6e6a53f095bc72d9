// Deletes the SQLite file of the example, which then starts without the week of its demonstration.
import { rm } from 'node:fs/promises'

export default async function empty() {
  await rm('packages/host-example/data', { recursive: true, force: true })
  process.env.DEMO_WEEK = 'off'
}
