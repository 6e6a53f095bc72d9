import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { codeBlocks } from '../pack/document-code.mjs'
import { chooseTests, compiled } from '../test-choice.mjs'

const run = (...args) =>
  spawnSync(process.execPath, [new URL('../run.mjs', import.meta.url).pathname, ...args], {
    encoding: 'utf8',
  })

test('an unknown step, or none, names the steps there are', (t) => {
  for (const args of [[], ['tset'], ['install', 'nonsense'], ['packages/core/x.test.js']]) {
    const { status, stderr, stdout } = run(...args)
    t.equal(status, 1)
    t.match(stderr, /install, build, lint, pack, test, seed, host, dev, bench/)
    t.equal(stdout, '', 'nothing has run')
  }
  t.end()
})

const tests = [
  'packages/core/test/order.test.ts',
  'packages/settings/test/http/etag.test.ts',
  'packages/settings/test/http/writes/bulk.test.ts',
  'packages/settings-ui/test/browser/order.test.tsx',
  'packages/host-example/test/settings.test.ts',
  'scripts/test/run.test.mjs',
]
const chosen = (...words) => chooseTests(words, tests).files

test('tests are named by their package, a folder, their source, what it compiles to, or the end of their path', async (t) => {
  t.same(chosen(), tests)
  for (const word of [
    'settings',
    '@fastify-modular/settings',
    'packages/settings/',
    './packages/settings/test/http',
  ])
    t.same(chosen(word), tests.slice(1, 3), word)
  for (const word of [
    tests[1],
    compiled(tests[1]),
    'settings/http/etag',
    'etag',
    'http/etag',
    `${process.cwd()}/${tests[1]}`,
  ])
    t.same(chosen(word), [tests[1]], word)
  t.same(chosen('order'), [tests[0], tests[3]])
  t.same(chosen('writes'), [tests[2]])
  t.same(chosen('scripts', 'core'), [tests[0], tests[5]])
  t.same(tests.slice(3).map(compiled), [
    'packages/settings-ui/dist-test/browser/order.test.js',
    'packages/host-example/dist-test/settings.test.js',
    'scripts/test/run.test.mjs',
  ])
})

test('a word that names no test is refused', async (t) => {
  t.throws(() => chosen('setings'), /"setings" names no test/)
  t.throws(
    () => chosen('core', 'settings/http/etags.test.ts'),
    /"settings\/http\/etags.test.ts" names no test/,
  )
  t.throws(() => chosen('core', '--grep'), /needs a part of the name/)
})

test('tests are chosen by a text of their name, among the files that have it', async (t) => {
  const folder = t.testdir({ 'a.test.mjs': "test('it works (twice)'", 'b.test.mjs': 'test(`${name} works`' })
  const both = ['a', 'b'].map((name) => `${folder}/${name}.test.mjs`)
  t.same(chooseTests(['--grep', 'works (twice)'], both), {
    files: [both[0]],
    grep: String.raw`/works \(twice\)/`,
  })
  t.same(
    chooseTests(['--grep', 'it works for all'], both).files,
    both,
    'a name may be put together when it runs',
  )
})

/** Runs nine test files, `failures` of which fail so many times, and returns the output and how often these ran. */
function runFiles(t, { failures, times }) {
  const folder = t.testdir({})
  const files = Array.from({ length: 9 }, (_, at) => join(folder, `${at}.mjs`))
  for (const [at, file] of files.entries()) {
    const source = `import { appendFileSync, readFileSync } from 'node:fs'
appendFileSync('${file}.log', 'x')
const isGood = ${at} >= ${failures} || readFileSync('${file}.log').length > ${times}
console.log((isGood ? 'ok' : 'not ok') + ' 1 - a test\\n1..1')
process.exitCode = isGood ? 0 : 1`
    writeFileSync(file, source)
  }
  const step = new URL('../steps/test.mjs', import.meta.url).href
  const script = `import { runTests } from '${step}'; await runTests(${JSON.stringify(files)})`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
  const runs = files.slice(0, failures).map((file) => readFileSync(`${file}.log`, 'utf8').length)
  return { status, runs, last: stdout.trim().split('\n').at(-1), stdout }
}

test('a file that fails among others is run again alone, unless many fail', async (t) => {
  const cases = [
    { failures: 1, times: 1, status: 0, runs: [2], last: '9 passed, 0 failed' },
    { failures: 1, times: 2, status: 1, runs: [2], last: '8 passed, 1 failed' },
    { failures: 4, times: 1, status: 1, runs: [1, 1, 1, 1], last: '5 passed, 4 failed' },
  ]
  for (const { failures, times, ...expected } of cases) {
    const { stdout, ...result } = runFiles(t, { failures, times })
    t.same(result, expected)
    t.equal(stdout.includes('run again alone: '), expected.runs.includes(2), 'what ran twice is named')
  }
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
    blocks: [{ path: 'a.md', line: 4, code: "import a from 'a'\n", language: 'ts' }],
    fragments: ['a.md:8', 'a.md:12'],
  })
  t.end()
})

/** Documents in which code without imports says that it is a fragment; the others leave some out silently. */
const wholeDocuments = ['docs/guides/errors.md', 'packages/errors/README.md']

for (const path of wholeDocuments) {
  test(`every block of ${path} that does not say it is a fragment is compiled`, (t) => {
    const markdown = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    t.equal(codeBlocks(path, markdown).blocks.length, markdown.match(/^```tsx?$/gm)?.length)
    t.end()
  })
}
