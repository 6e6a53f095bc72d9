// Writes the week of the demonstration into the database of the example, where that is empty.
import { node } from '../command.mjs'

export default async function seed() {
  await node('packages/host-example/dist/seed.js', [])
}
