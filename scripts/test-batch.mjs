// Runs test files one after another in this process, so that they import Fastify and the rest once. After each stands a test of its name.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { endOf } from './test-groups.mjs'

for (const path of process.argv.slice(2)) {
  await import(pathToFileURL(resolve(path)).href)
  await t.test(endOf(path), async () => {})
}
