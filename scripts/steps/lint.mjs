// Checks style: oxlint with types, what nobody uses, then the formatting.
import { node } from '../command.mjs'

export default async function lint() {
  await node('node_modules/oxlint/bin/oxlint', ['--type-aware'])
  await node('node_modules/knip/bin/knip.js', ['--no-progress', '--exclude', 'duplicates'])
  await node('node_modules/oxfmt/bin/oxfmt', ['--check'])
}
