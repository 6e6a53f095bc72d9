// Deletes the SQLite file of the example.
import { rm } from 'node:fs/promises'

export default async function empty() {
  await rm('packages/host-example/data', { recursive: true, force: true })
}
