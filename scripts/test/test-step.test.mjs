import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { testDatabase } from '../../test-support/dist/postgres.js'
import { capture } from '../command.mjs'

const nodeModules = fileURLToPath(new URL('../../node_modules', import.meta.url))
const step = new URL('../steps/test.mjs', import.meta.url).href
const support = new URL('../../test-support/dist/postgres.js', import.meta.url).href

/** A test that writes down what it finds in its environment, and on which server its database is. */
const observer = `
  import { writeFileSync } from 'node:fs'
  import { test } from 'tap'
  import { testDatabase } from '${support}'
  test('a database', async (t) => {
    const { TEST_DATABASE_URL: server, TEST_POSTGRES_BIN: bin } = process.env
    const { url } = await testDatabase(t)
    writeFileSync(\`seen/\${process.pid}.json\`, JSON.stringify({ server, bin, host: new URL(url).host }))
  })`

/** Runs the step with two test files in a folder of its own and returns what they found. */
async function environmentsOfTests(t, given) {
  const folder = mkdtempSync(join(tmpdir(), 'fastify-modular-step-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'seen'))
  symlinkSync(nodeModules, join(folder, 'node_modules'))
  const files = ['one.test.mjs', 'two.test.mjs']
  for (const file of files) writeFileSync(join(folder, file), observer)
  // With the variables of this run of tap the inner one would be a part of it.
  const own = Object.entries(process.env).filter(([name]) => !/TAP|^NODE_OPTIONS$|^TEST_/.test(name))
  const script = `import { runTests } from '${step}'; await runTests(${JSON.stringify(files)})`
  await capture(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: folder,
    env: { ...Object.fromEntries(own), ...given },
  })
  const seen = readdirSync(join(folder, 'seen'))
  return seen.map((name) => JSON.parse(readFileSync(join(folder, 'seen', name), 'utf8')))
}

test('all test files of a run share one PostgreSQL server and its programs', async (t) => {
  const [one, two] = await environmentsOfTests(t, {})
  t.match(one, { server: /^postgres:/, bin: /bin$/, host: new URL(one.server).host })
  t.same(two, one)
})

test('a server named by TEST_DATABASE_URL is the one that test files use', async (t) => {
  const { url } = await testDatabase(t)
  const seen = await environmentsOfTests(t, { TEST_DATABASE_URL: url })
  const expected = { server: url, host: new URL(url).host }
  t.same(seen, [expected, expected])
})
