// What is published of a package, in a folder of its own: its modules bundled, one file an entry point beside the files
// that they share, because a cold process pays for each file; declarations; sources, which maps name.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { parse } from 'yaml'
import { capture } from '../command.mjs'
import { filesBelow, manifestOf } from '../files.mjs'

/**
 * Dependencies whose used part goes into the bundles: each has a hundred modules and more. Hosts need them for types only.
 * Schemas and queries are recognised across copies, by `Symbol.for`.
 */
const inlined = ['@sinclair/typebox', 'drizzle-orm']

/** Packs built packages into a folder. Returns the tarballs by the names of the packages. `more` are further members of their manifests. */
export async function packAll(folders, destination, more) {
  if (folders.length === 0) return new Map()
  const staging = mkdtempSync(join(tmpdir(), 'fastify-modular-stage-'))
  try {
    for (const folder of folders) await stage(folder, join(staging, folder), more)
    const staged = folders.map((folder) => join(staging, folder))
    const packed = await capture('npm', [
      'pack',
      '--json',
      '--pack-destination',
      resolve(destination),
      ...staged,
    ])
    return new Map(JSON.parse(packed).map(({ name, filename }) => [name, resolve(destination, filename)]))
  } finally {
    rmSync(staging, { recursive: true })
  }
}

/** Writes what is published of a built package into a folder. `more` are further members of its manifest. */
export async function stage(folder, destination, more = {}) {
  const manifest = manifestOf(folder)
  mkdirSync(destination, { recursive: true })
  const whole = [
    ...manifest.files.filter((name) => name !== 'dist'),
    'dist/public',
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
  ]
  for (const name of whole.filter((each) => existsSync(join(folder, each))))
    cpSync(join(folder, name), join(destination, name), { recursive: true, dereference: true })
  for (const file of filesBelow(join(folder, 'dist')).filter((path) => /\.d\.ts(?:\.map)?$/.test(path)))
    writeInto(join(destination, relative(folder, file)), withoutCitations(readFileSync(file, 'utf8')))
  const chunks = await bundle(folder, manifest)
  for (const { fileName, code, map } of chunks) {
    const file = join(destination, 'dist', fileName)
    writeInto(file, code)
    if (map) writeInto(`${file}.map`, JSON.stringify(published(map))) // none where a file only names others
  }
  const licences = licencesOf(chunks)
  if (licences !== '') writeInto(join(destination, 'LICENSES-OF-DEPENDENCIES.txt'), licences)
  writeInto(
    join(destination, 'package.json'),
    `${JSON.stringify({ ...resolved(manifest), ...more }, null, 2)}\n`,
  )
}

/** Chunks lie beside the entry points at the top: what they find from `import.meta.url` stays where it is. */
async function bundle(folder, { exports = {}, bin = {}, dependencies = {} }) {
  const entries = [...Object.values(exports).map((each) => each.default), ...Object.values(bin)]
  const names = entries.flatMap((entry) => /^(?:\.\/)?dist\/(.+)\.js$/.exec(entry)?.[1] ?? [])
  const source = (name) =>
    ['ts', 'tsx'].map((ending) => resolve(folder, 'src', `${name}.${ending}`)).find(existsSync)
  const within = [...inlined.filter((name) => name in dependencies), '@oxc-project/runtime']
  const build = await rolldown({
    input: Object.fromEntries(names.map((name) => [name, source(name)])),
    cwd: resolve(folder),
    platform: 'node',
    transform: { target: 'es2022' }, // as the compiler has it
    external: (id) => !/^[./]/.test(id) && !within.some((name) => `${id}/`.startsWith(`${name}/`)),
    treeshake: { moduleSideEffects: false },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`${folder} cannot be bundled: ${log.message}`)
    },
  })
  const { output } = await build.generate({
    dir: resolve(folder, 'dist'),
    sourcemap: true,
    chunkFileNames: 'shared-[name].js',
    comments: { legal: true, annotation: true, jsdoc: false },
  })
  await build.close()
  return output.filter(({ type }) => type === 'chunk')
}

/** Sources of ours are in the tarball; those of dependencies are in the map, and named as they are imported. */
function published({ sources, sourcesContent, ...map }) {
  const isOurs = (path) => /^(?:\.\.\/)+src\//.test(path)
  return {
    ...map,
    file: undefined,
    sources: sources.map((path) => path.replace(/^.*(?=node_modules\/)/, '')),
    sourcesContent: sourcesContent.map((text, index) => (isOurs(sources[index]) ? null : text)),
  }
}

/** The licences of the dependencies that are in the chunks; empty without any. */
function licencesOf(chunks) {
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds)
  const texts = inlined.flatMap((name) => {
    const at = `node_modules/${name}/`
    const found = modules.find((id) => id.includes(at))
    if (found === undefined) return []
    const folder = found.slice(0, found.lastIndexOf(at) + at.length)
    const { license, version, repository } = manifestOf(folder)
    const url = repository.url ?? repository
    const heading = `Parts of ${name} ${version} (${license}, ${url}) are in the files of dist, in another form.`
    return `${heading}\n\n${licenceText(folder, license)}`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

/** drizzle-orm names its licence and does not bring it. */
function licenceText(folder, name) {
  const own = ['license', 'LICENSE', 'LICENSE.md'].map((each) => join(folder, each)).find(existsSync)
  if (own === undefined && name !== 'Apache-2.0') throw new Error(`${folder} brings no text of ${name}`)
  return readFileSync(own ?? 'node_modules/typescript/LICENSE.txt', 'utf8')
}

const forThisRepository = ['scripts', 'devDependencies', 'imports', 'files']

/** The manifest without what is for this repository, and with the versions of its catalog. */
function resolved(manifest) {
  const { catalog } = parse(readFileSync('pnpm-workspace.yaml', 'utf8'))
  const rangeOf = ([name, range]) => [
    name,
    range.replace('workspace:^', `^${manifest.version}`).replace('catalog:', catalog[name]),
  ]
  const ranges = (all = {}) => Object.fromEntries(Object.entries(all).map(rangeOf))
  const kept = Object.entries(manifest).filter(([name]) => !forThisRepository.includes(name))
  const dependencies = ranges(manifest.dependencies)
  return { ...Object.fromEntries(kept), dependencies, peerDependencies: ranges(manifest.peerDependencies) }
}

/** ` (S 3.2, decision 18)`, also at the start of a comment's line; and the end of `(option x; decision 62)`. */
const citations = [
  /(?:\s*\n\s*\*)?\s*\((?:S|[Dd]ecisions?) \d[^()]*\)/g,
  /[,;] (?:S|decisions?) \d[^()]*(?=\))/g,
]

/** The text of a declaration without numbers of the specification and of rulings, which readers of a tarball cannot look up. */
export function withoutCitations(text) {
  return citations.reduce((rest, citation) => rest.replaceAll(citation, ''), text)
}

function writeInto(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** `node scripts/pack/stage.mjs <folder> packages/core …`: for a release, whose tag has to name the commit that npm shows. */
if (process.argv[1] === import.meta.filename) {
  const [destination, ...folders] = process.argv.slice(2)
  const gitHead = (await capture('git', ['rev-parse', 'HEAD'])).trim()
  await packAll(folders, destination, { gitHead })
}
