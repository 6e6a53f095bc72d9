import { test } from 'tap'
import { codeOf, misplacedPlugins, registrationOrder, statedOrders } from './registration-order.js'
import { repositoryFiles, textOf } from './sources.js'

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
  const plugins = ['core', 'errors', 'inertia', 'public-routes', 'settings', 'settings-ui']
  for (const path of [
    'README.md',
    'docs/guides/getting-started.md',
    ...plugins.map((name) => `packages/${name}/README.md`),
  ])
    t.ok(textOf(path).includes(registrationOrder), `${path} states it`)
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
