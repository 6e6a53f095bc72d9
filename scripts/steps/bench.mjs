// Runs the benchmarks: every bench/*.mjs, or the ones that are named.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { node } from '../command.mjs'

export default async function bench(files) {
  const all = readdirSync('bench')
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => join('bench', name))
  const failed = []
  for (const file of files.length > 0 ? files : all) {
    try {
      await node(file)
    } catch {
      failed.push(file) // it has said why; the others need not wait for a machine on which it runs
    }
  }
  if (failed.length > 0) throw new Error(`these did not come to their end: ${failed.join(', ')}`)
}
