// What a package promises to a reader who has nothing but its tarball.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { manifestOf, packageFolders } from '../files.mjs'
import { citations, deadSources, relativeLinks } from '../pack/check-content.mjs'
import { installLines, typeScriptOptions } from '../pack/document-code.mjs'
import { withoutCitations } from '../pack/stage.mjs'

const repository = 'https://github.com/fastify-modular/fastify-modular'
const published = packageFolders().filter((folder) => !manifestOf(folder).private)
const readmeOf = (folder) => readFileSync(join(folder, 'README.md'), 'utf8')

for (const folder of published) {
  const manifest = manifestOf(folder)

  test(`${manifest.name} says where it comes from and what it is for`, (t) => {
    t.equal(manifest.homepage, `${repository}/tree/main/${folder}#readme`)
    t.same(manifest.bugs, { url: `${repository}/issues` })
    t.same(manifest.repository, { type: 'git', url: `git+${repository}.git`, directory: folder })
    t.ok(manifest.keywords.includes('fastify') && manifest.keywords.length >= 5)
    t.ok(existsSync(join(folder, 'LICENSE')))
    t.ok(manifest.files.includes('dist') && manifest.files.includes('src'), 'source maps name the sources')
    t.same(relativeLinks(readmeOf(folder)), [])
    t.end()
  })

  if (manifest.bin !== undefined) continue // a command: nothing imports it

  test(`the README of ${manifest.name} is enough to begin with`, (t) => {
    t.equal(manifest.peerDependencies.fastify, '^5.0.0 || ^6.0.0')
    const needed = Object.keys(manifest.peerDependencies).filter(
      (name) => !manifest.peerDependenciesMeta?.[name]?.optional,
    )
    const named = installLines(readmeOf(folder)).flatMap((line) => line.split(/\s+/))
    for (const name of [manifest.name, ...needed]) t.ok(named.includes(name), name)
    t.match(readmeOf(folder), 'docs/guides/getting-started.md#check-the-types', 'the options of the compiler')
    t.end()
  })
}

test('the guide that every README names has the options of the compiler, and installs it', (t) => {
  const guide = readFileSync('docs/guides/getting-started.md', 'utf8')
  t.match(typeScriptOptions(guide), { module: 'nodenext', strict: true })
  const named = installLines(guide).flatMap((line) => line.split(/\s+/))
  for (const name of ['typescript', '@types/node']) t.ok(named.includes(name), name)
  t.end()
})

test('the name fastify-modular belongs to no package of the workspace', (t) => {
  t.notOk(
    [manifestOf('.'), ...packageFolders().map(manifestOf)].some(({ name }) => name === 'fastify-modular'),
  )
  t.end()
})

test('declarations lose citations, and nothing else, before they are packed', (t) => {
  const before = [
    '/** Publishes events (S 6.2) and counts what became of them. */',
    '/** A value as responses show it (S 2.4, decisions 13 and 15). */',
    '/** Which requests get a page (option `pages`, decision 103). */',
    '/**\n * The entries of a bulk write, in order\n * (decisions 16 and 20).\n */',
    '/** 409 (a conflict). Bytes (at most 500). */',
  ]
  t.same(before.map(withoutCitations), [
    '/** Publishes events and counts what became of them. */',
    '/** A value as responses show it. */',
    '/** Which requests get a page (option `pages`). */',
    '/**\n * The entries of a bulk write, in order.\n */',
    '/** 409 (a conflict). Bytes (at most 500). */',
  ])
  t.same(citations(before.join('\n')).length, 4)
  t.same(citations(before.map(withoutCitations).join('\n')), [])
  t.end()
})

test('a source map without its sources is noticed', (t) => {
  const here = import.meta.filename
  t.same(deadSources(here, { sources: ['pack.test.mjs'] }), [])
  t.same(deadSources(here, { sources: ['gone.ts'], sourcesContent: ['text'] }), [])
  t.same(deadSources(here, { sources: ['gone.ts'] }), ['the map names gone.ts, which is missing'])
  t.end()
})
