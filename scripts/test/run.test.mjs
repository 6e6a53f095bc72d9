import { spawnSync } from 'node:child_process'
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
    t.match(stderr, /install, build, lint, pack, test, host, bench/)
    t.equal(stdout, '', 'nothing has run')
  }
  t.end()
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
  t.same(codeBlocks('a.md', markdown), [{ path: 'a.md', line: 4, code: "import a from 'a'\n" }])
  t.end()
})
