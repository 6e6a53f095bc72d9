/** One order in which an application registers the plugins, stated and followed by everything that readers copy. */
import { test } from 'tap'
import { repositoryFiles, textOf } from './sources.js'

const names = ['errors', 'publicRoutes', 'inertia', 'events', 'settings', 'settingsUi', 'modules']

/** As every document states it. */
const registrationOrder = `${names.join(' → ')} → the application's own routes`

/** Returns the lines of a file that state another order. */
function statedOrders(path: string, text: string): string[] {
  return text
    .split('\n')
    .filter((line) => / → (?:await )?(?:public ?routes|settings|modules)\b.*→ .*routes/i.test(line))
    .filter((line) => !line.includes(registrationOrder))
    .map((line) => `${path}: ${line.trim()}`)
}

/** Returns the plugins that code registers after one that follows them, application by application. */
function misplacedPlugins(path: string, code: string): string[] {
  const steps = code.matchAll(/\bFastify\(|\.register\(\s*(\w+)/g)
  const problems: string[] = []
  let latest = 0
  for (const [, plugin] of steps) {
    const at = plugin === undefined ? 0 : names.indexOf(plugin)
    if (at === -1) continue
    if (plugin !== undefined && at < latest)
      problems.push(`${path}: ${plugin} is registered after ${names[latest]}`)
    latest = at
  }
  return problems
}

/** The code that a Markdown file shows, block by block. */
function codeOf(markdown: string): string[] {
  return [...markdown.matchAll(/^```(?:ts|tsx|js|jsx)\b[^\n]*\n([^]*?)^```$/gm)].map(([, code = '']) => code)
}

const documents = repositoryFiles().filter((path) => path.endsWith('.md') && !path.startsWith('.changeset/'))
const examples = repositoryFiles().filter((path) =>
  /^(?:examples\/.*\.[cm]?[jt]s|packages\/host-example\/src\/app\.ts|packages\/[^/]+\/template\/.*\.ts)$/.test(
    path,
  ),
)

test('documents and examples state one order of registration', (t) => {
  t.same(
    [...documents, ...examples].flatMap((path) => statedOrders(path, textOf(path))),
    [],
  )
  t.same(
    documents.filter((path) => textOf(path).includes(registrationOrder)),
    ['docs/guides/getting-started.md'],
    'it stands once',
  )
  const plugins = ['core', 'errors', 'inertia', 'public-routes', 'settings', 'settings-ui']
  for (const path of ['docs/guides/one-plugin.md', ...plugins.map((name) => `packages/${name}/README.md`)])
    t.match(textOf(path), 'getting-started.md#the-order', `${path} leads there`)
  t.end()
})

test('code that readers copy follows it', (t) => {
  t.same(
    documents.flatMap((path) => codeOf(textOf(path)).flatMap((code) => misplacedPlugins(path, code))),
    [],
  )
  t.same(
    examples.flatMap((path) => misplacedPlugins(path, textOf(path))),
    [],
  )
  t.end()
})

test('another order is found', (t) => {
  t.same(statedOrders('a.md', `\`${registrationOrder}\`\nerrors → settings → modules → its routes`), [
    'a.md: errors → settings → modules → its routes',
  ])
  t.same(
    misplacedPlugins(
      'a.ts',
      'app.register(settings)\napp.register(helmet)\nawait app.register(errors, {})\nconst app = Fastify()\napp.register(errors)',
    ),
    ['a.ts: errors is registered after settings'],
  )
  t.same(codeOf('```ts\none\n```\n\n```sh\nno\n```\n\n```js fragment\ntwo\n```'), ['one\n', 'two\n'])
  t.end()
})
