// The parts of a release, in the order in which the release workflow runs them:
//   node scripts/release.mjs pack <folder>       packs what is not published yet; the packages must be built
//   node scripts/release.mjs publish <folder>    publishes these tarballs, with provenance
//   node scripts/release.mjs tag                 makes the release of the version on GitHub, and its tag, once all of it is published
// With `--dry-run` the first packs every package, and the second uploads nothing. The last two run in jobs that may write:
// this file imports nothing but Node's modules and files beside it.
import { mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { capture, run } from './command.mjs'
import { manifestOf, packageFolders } from './files.mjs'

const [, , part, folder, flag] = process.argv
const isDryRun = flag === '--dry-run'
const published = packageFolders().filter((each) => !manifestOf(each).private)
const version = commonVersion()
const parts = { pack, publish, tag }
if (!Object.hasOwn(parts, part)) throw new Error(`Name a part: ${Object.keys(parts).join(', ')}.`)
await parts[part]()

async function pack() {
  mkdirSync(folder, { recursive: true })
  const missing = []
  for (const each of published) {
    const { name } = manifestOf(each)
    if (await isPublished(name)) console.log(`${name}@${version} is published already`)
    else missing.push(each)
  }
  await run(process.execPath, ['scripts/pack/stage.mjs', folder, ...missing]) // a process of its own: it loads a bundler
}

async function publish() {
  const tarballs = await Promise.all(readdirSync(folder).map((name) => read(join(folder, name))))
  for (const { file, name } of tarballs) {
    if (await isPublished(name)) {
      console.log(`${name}@${version} is published already`) // by a run that broke off
      continue
    }
    const how = isDryRun ? '--dry-run' : '--provenance'
    await run('npm', ['publish', resolve(file), '--access', 'public', '--ignore-scripts', how])
  }
}

/** @throws {Error} the tarball is none of this version's, or names no commit */
async function read(file) {
  const manifest = JSON.parse(await capture('tar', ['-xzOf', file, 'package/package.json']))
  const isOurs = published.some((each) => manifestOf(each).name === manifest.name)
  if (!isOurs || manifest.version !== version) {
    throw new Error(`${file} holds ${manifest.name}@${manifest.version}, which is no package of ${version}`)
  }
  if (!/^[0-9a-f]{40}$/.test(manifest.gitHead)) throw new Error(`${file} names no commit`)
  return { file, name: manifest.name }
}

async function tag() {
  const name = `v${version}`
  const commits = new Set()
  for (const each of published) {
    const { name: missing } = manifestOf(each)
    const found = await publishedManifest(missing)
    if (!found) throw new Error(`${missing}@${version} is not published, so ${name} is no release`)
    commits.add(found.gitHead)
  }
  // A run that broke off may have published an earlier commit than this one.
  const [commit] = commits
  if (commits.size > 1 || !commit)
    throw new Error(`${name} was packed from ${[...commits].join(', ')}: no tag names all of it`)
  const made = await capture('gh', ['release', 'view', name]).catch(() => undefined)
  if (made === undefined) await run('gh', ['release', 'create', name, '--target', commit, '--generate-notes'])
}

function commonVersion() {
  const versions = new Set(published.map((each) => manifestOf(each).version))
  const [only] = versions
  if (versions.size === 1 && /^0\.[1-9]\d*\.\d+$/.test(only)) return only
  throw new Error(
    `all packages have one version, from 0.1.0 and below 1.0.0; found ${[...versions].join(', ')}`,
  )
}

async function isPublished(name) {
  return !isDryRun && (await publishedManifest(name)) !== undefined
}

/** Version and commit of what npm has; undefined also for a package that no version exists of. */
async function publishedManifest(name) {
  try {
    const text = await capture('npm', ['view', `${name}@${version}`, 'version', 'gitHead', '--json'])
    return text.trim() === '' ? undefined : JSON.parse(text)
  } catch (error) {
    if (/E404/.test(error.message)) return undefined
    throw error
  }
}
