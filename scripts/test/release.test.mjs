// What a release would make of the versions, and what it would publish: the scripts on a copy of the repository.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'tap'
import { capture } from '../command.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const version = join(root, 'scripts/version.mjs')
const releaseScript = join(root, 'scripts/release.mjs')
const core = '@fastify-modular/core'

function packagesOf(folder) {
  return readdirSync(join(folder, 'packages'))
    .map((name) => JSON.parse(readFileSync(join(folder, 'packages', name, 'package.json'), 'utf8')))
    .filter((manifest) => !manifest.private)
}

/** Packages and changesets without sources, as a git repository of its own. */
async function copyOfRepository(t) {
  const copy = mkdtempSync(join(tmpdir(), 'fastify-modular-release-'))
  t.teardown(() => rmSync(copy, { recursive: true, force: true }))
  const wanted = [':(glob)**/package.json', 'pnpm-workspace.yaml', '.changeset']
  const names = await capture('git', ['ls-files', '-z', ...wanted], { cwd: root })
  for (const name of names.split('\0').filter(Boolean)) cpSync(join(root, name), join(copy, name))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  await capture('git', ['init', '--quiet'], { cwd: copy })
  return copy
}

async function release(copy, changes) {
  for (const [name, kind] of Object.entries(changes)) {
    const file = join(copy, '.changeset', `${name.replaceAll(/\W/g, '-')}-${kind}.md`)
    writeFileSync(file, `---\n'${name}': ${kind}\n---\n\nA change.\n`)
  }
  await capture(process.execPath, [version], { cwd: copy })
  return packagesOf(copy)
}

test('a release gives every package the same version below 1.0.0, whatever it brings', async (t) => {
  const copy = await copyOfRepository(t)
  const releases = [
    [{}, '0.1.0'],
    [{ [core]: 'minor' }, '0.2.0'],
    [{ '@fastify-modular/errors': 'patch' }, '0.2.1'],
  ]
  for (const [changes, next] of releases) {
    const packages = await release(copy, changes)
    t.same(new Set(packages.map(({ version }) => version)), new Set([next]))
    for (const { name, peerDependencies, dependencies = {} } of packages) {
      if (name === core || name === 'create-fastify-modular') continue
      const range = `~${next.slice(0, -1)}0`
      t.equal(peerDependencies[core], range, `${name} names core of its own minor version as a peer`)
      t.notOk(core in dependencies, name)
    }
  }
})

test('what is published are tarballs of this version, and no others', async (t) => {
  const copy = await copyOfRepository(t)
  await t.rejects(publish(copy, { name: core, version: '0.0.0' }), /from 0\.1\.0 and below 1\.0\.0/)
  await release(copy, {})
  await t.rejects(
    publish(copy, { name: core, version: '0.0.9' }),
    /core@0\.0\.9, which is no package of 0\.1\.0/,
  )
  for (const name of ['@fastify-modular/host-example', 'left-pad']) {
    await t.rejects(publish(copy, { name, version: '0.1.0' }), /which is no package of 0\.1\.0/)
  }
  await t.rejects(publish(copy, { name: core, version: '0.1.0' }), /names no commit/)
})

test('a version is tagged when all of it is published, also by a later run', async (t) => {
  t.setTimeout(900_000)
  const copy = await copyOfRepository(t)
  await release(copy, {})
  const names = packagesOf(copy).map(({ name }) => name)
  const missing = new Set([names[0]])
  const commits = new Map([[names[0], 'later']])
  const registry = createServer(({ url }, response) => {
    const name = decodeURIComponent(url.slice(1))
    const manifest = { name, version: '0.1.0', gitHead: commits.get(name) ?? 'abc' }
    const body = { name, 'dist-tags': { latest: '0.1.0' }, versions: { '0.1.0': manifest } }
    response.writeHead(missing.has(name) ? 404 : 200).end(JSON.stringify(body))
  })
  registry.listen(0, '127.0.0.1')
  t.teardown(() => registry.close())
  await once(registry, 'listening')
  // A command line of GitHub that knows no release, and writes down what it is asked for.
  const bin = mkdtempSync(join(copy, 'bin-'))
  writeFileSync(join(bin, 'gh'), '#!/bin/sh\necho "$@" >> "$0.log"\ntest "$2" = create\n', { mode: 0o755 })
  const env = {
    ...process.env,
    PATH: `${bin}:${process.env.PATH}`,
    npm_config_registry: `http://127.0.0.1:${registry.address().port}`,
    npm_config_cache: join(copy, 'cache'),
  }
  const tag = () => capture(process.execPath, [releaseScript, 'tag'], { cwd: copy, env })
  await t.rejects(tag(), /@0\.1\.0 is not published/)
  missing.clear()
  await t.rejects(tag(), /v0\.1\.0 was packed from later, abc: no tag names all of it/)
  commits.clear()
  await tag()
  t.equal(
    readFileSync(join(bin, 'gh.log'), 'utf8'),
    'release view v0.1.0\nrelease create v0.1.0 --target abc --generate-notes\n',
    'the commit that was published',
  )
})

/** Publishes one tarball, which holds this manifest and nothing else. */
async function publish(copy, manifest) {
  const folder = mkdtempSync(join(copy, 'tarballs-'))
  const content = join(copy, 'package')
  mkdirSync(content, { recursive: true })
  writeFileSync(join(content, 'package.json'), JSON.stringify(manifest))
  await capture('tar', ['-czf', join(folder, 'one.tgz'), 'package'], { cwd: copy })
  await capture(process.execPath, [releaseScript, 'publish', folder, '--dry-run'], { cwd: copy })
}
