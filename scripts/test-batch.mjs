// Runs test files one after another in this process, so that they import Fastify and the rest once. After each stands a test of its name.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { endOf } from './test-groups.mjs'

const paths = process.argv.slice(2)
process.argv.splice(3) // tap names the folders of `t.testdir` after all arguments: one keeps them apart from those of other processes
const { default: t } = await import('tap')

for (const path of paths) {
  await import(pathToFileURL(resolve(path)).href)
  await t.test(endOf(path), async () => {})
}
