import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'tap'
import { codeBlocks } from '../pack/document-code.mjs'

const run = (...args) =>
  spawnSync(process.execPath, [new URL('../run.mjs', import.meta.url).pathname, ...args], {
    encoding: 'utf8',
  })

test('an unknown step, or none, names the steps there are', (t) => {
  for (const args of [[], ['tset'], ['install', 'nonsense'], ['packages/core/x.test.js']]) {
    const { status, stderr, stdout } = run(...args)
    t.equal(status, 1)
    t.match(stderr, /install, build, lint, pack, test, empty, host, bench/)
    t.equal(stdout, '', 'nothing has run')
  }
  t.end()
})

test('an example that starts empty has no database, and writes no week into its new one', async (t) => {
  const { default: empty } = await import('../steps/empty.mjs')
  const cwd = process.cwd()
  process.chdir(t.testdir({ 'packages/host-example/data': { 'host.sqlite': 'notes' } }))
  t.teardown(() => process.chdir(cwd))
  await empty()
  t.notOk(existsSync('packages/host-example/data'))
  t.equal(process.env.DEMO_WEEK, 'off')
  await empty() // a second time, there is nothing to delete
})

test('the code of a document is found with its line; fragments are left out', (t) => {
  const markdown = `# x

\`\`\`ts
import a from 'a'
\`\`\`

\`\`\`ts
app.register(a)
\`\`\`

\`\`\`ts fragment
import b from 'b'
\`\`\`
`
  t.same(codeBlocks('a.md', markdown), {
    blocks: [{ path: 'a.md', line: 4, code: "import a from 'a'\n" }],
    fragments: ['a.md:8', 'a.md:12'],
  })
  t.end()
})

/** Documents in which code without imports says that it is a fragment; the others leave some out silently. */
const wholeDocuments = ['docs/guides/errors.md', 'packages/errors/README.md']

for (const path of wholeDocuments) {
  test(`every block of ${path} that does not say it is a fragment is compiled`, (t) => {
    const markdown = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    t.equal(codeBlocks(path, markdown).blocks.length, markdown.match(/^```ts$/gm)?.length)
    t.end()
  })
}
