// What is published: few files, one copy of each module, and what a stranger needs to read and to share them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { SourceMap } from 'node:module'
import { test } from 'tap'
import { capture } from '../command.mjs'
import { filesBelow, manifestOf, packageFolders } from '../files.mjs'
import { createConsumer } from '../pack/consumer.mjs'
import { stage } from '../pack/stage.mjs'

const scratch = mkdtempSync(join(tmpdir(), 'fastify-modular-stage-'))
const published = packageFolders().filter((folder) => !manifestOf(folder).private)
for (const folder of published) await stage(folder, join(scratch, folder))
const packages = published.map((folder) => {
  const content = join(scratch, folder)
  return { folder: resolve(folder), content, manifest: manifestOf(content) }
})
const scriptsOf = ({ content }) =>
  filesBelow(join(content, 'dist')).filter((file) => file.endsWith('.js') && !file.includes('/dist/public/'))
const mapsOf = (each) =>
  filesBelow(join(each.content, 'dist')).filter(
    (file) => file.endsWith('.js.map') && !file.includes('/dist/public/'),
  )
const mapOf = (file) => JSON.parse(readFileSync(file, 'utf8'))

test('an application with every plugin and SQLite loads few files', async (t) => {
  const consumer = createConsumer(
    join(scratch, 'app'),
    packages.filter(({ manifest }) => manifest.exports !== undefined),
  )
  consumer.addOptionalPeers()
  writeFileSync(
    join(consumer.folder, 'hooks.mjs'),
    `import { appendFileSync } from 'node:fs'
     export async function load(url, context, next) {
       appendFileSync('loaded.txt', url + '\\n')
       return next(url, context)
     }`,
  )
  const names = [
    'core',
    'core/events/sqlite-outbox',
    'errors',
    'public-routes',
    'inertia',
    'settings',
    'settings/sqlite',
    'settings-ui',
  ]
  const program = names.map((name) => `await import('@fastify-modular/${name}')\n`).join('')
  writeFileSync(join(consumer.folder, 'program.mjs'), program)
  const hooks =
    'data:text/javascript,import { register } from "node:module"; register("./hooks.mjs", "file://" + process.cwd() + "/")'
  await capture(process.execPath, ['--import', hooks, 'program.mjs'], { cwd: consumer.folder })
  const loaded = readFileSync(join(consumer.folder, 'loaded.txt'), 'utf8').trim().split('\n')
  const files = loaded.filter((url) => url.startsWith('file:'))
  t.comment(files.map((url) => relative(scratch, new URL(url).pathname)).join('\n'))
  t.ok(files.length < 60, `${files.length} files`) // 563 without bundles
  for (const name of ['typebox', 'drizzle-orm', '@fastify/static', '@fastify/send'])
    t.notOk(
      files.some((url) => url.includes(`/${name}/`)),
      name,
    )
})

for (const each of packages) {
  const { manifest, content } = each

  test(`${manifest.name}: each of its modules is in one file`, (t) => {
    const sources = mapsOf(each).flatMap((file) =>
      mapOf(file).sources.map((source) =>
        source.includes('node_modules') ? source : relative(content, resolve(file, '..', source)),
      ),
    )
    t.ok(sources.length > 0)
    t.same(
      sources.filter((source, index) => sources.indexOf(source) !== index),
      [],
    )
    t.end()
  })

  test(`${manifest.name}: what is combined with it has its licence in the tarball`, (t) => {
    const names = mapsOf(each).flatMap((file) =>
      mapOf(file).sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []),
    )
    for (const name of new Set(names)) {
      t.ok(name in manifest.dependencies, `${name} is a dependency, for its types`)
      t.match(readFileSync(join(content, 'LICENSES-OF-DEPENDENCIES.txt'), 'utf8'), `Parts of ${name} `)
    }
    t.end()
  })

  test(`${manifest.name}: its manifest names versions, and nothing of this repository`, (t) => {
    t.same(
      Object.keys(manifest).filter((name) => ['scripts', 'imports', 'devDependencies'].includes(name)),
      [],
    )
    for (const range of Object.values({ ...manifest.dependencies, ...manifest.peerDependencies }))
      t.notMatch(range, /catalog|workspace/)
    t.end()
  })
}

test('a place in a bundle leads to its source', (t) => {
  const [core] = packages.filter(({ manifest }) => manifest.name === '@fastify-modular/core')
  const file = scriptsOf(core).find((path) => readFileSync(path, 'utf8').includes('function editDistance('))
  const lines = readFileSync(file, 'utf8').split('\n')
  const line = lines.findIndex((text) => text.startsWith('function editDistance('))
  const { originalSource, originalLine } = new SourceMap(mapOf(`${file}.map`)).findEntry(line, 0)
  const source = readFileSync(resolve(file, '..', originalSource), 'utf8').split('\n')
  t.equal(basename(originalSource), 'closest-name.ts')
  t.match(source[originalLine], /^function editDistance\(/)
  t.end()
})

process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
