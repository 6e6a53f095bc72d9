// Which test files the words of a command line mean.
import { readFileSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { filesBelow, packageFolders } from './files.mjs'

/**
 * Returns the sources of the tests, all or those that the words name, and what TAP_GREP is to hold. A word is a package, a folder,
 * a file (as it lies in `test` or `dist-test`) or a later part of such a path; `--grep NAME` chooses tests whose name has this text.
 * @throws {Error} a word names no test
 */
export function chooseTests(words, all = testSources()) {
  const names = [...words]
  const at = names.indexOf('--grep')
  const [, text] = at === -1 ? [] : names.splice(at, 2)
  if (at !== -1 && !text) throw new Error('--grep needs a part of the name of a test')
  const found = new Set(names.flatMap((word) => filesOf(word, all)))
  const files = names.length === 0 ? all : all.filter((path) => found.has(path))
  if (text === undefined) return { files }
  const withText = files.filter((path) => readFileSync(path, 'utf8').includes(text))
  return {
    files: withText.length > 0 ? withText : files, // a name may be put together when it runs
    grep: `/${text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)}/`,
  }
}

/** The file that Node runs. */
export function compiled(source) {
  return source
    .replace('/test/', source.endsWith('.mjs') ? '/test/' : '/dist-test/')
    .replace(/\.tsx?$/, '.js')
}

function testSources() {
  const folders = ['scripts/test', ...[...packageFolders(), 'test-support'].map((folder) => `${folder}/test`)]
  return folders.flatMap(filesBelow).filter((path) => /\.test\.(?:tsx?|mjs)$/.test(path))
}

/** `packages/core/dist-test/modules/order.test.js` → `core/modules/order` */
const shorten = (path) =>
  path
    .replaceAll(sep, '/')
    .replace(/^(?:\.\/)?(?:packages\/|@fastify-modular\/)?/, '')
    .replace(/\/(?:dist-)?test(?=\/|$)/, '')
    .replace(/\.test\.(?:tsx?|m?js)$|\/$/, '')

function filesOf(word, all) {
  const wanted = shorten(word.startsWith('/') ? relative(process.cwd(), word) : word)
  const below = all.filter((path) => `${shorten(path)}/`.startsWith(`${wanted}/`))
  const found = below.length > 0 ? below : all.filter((path) => `${shorten(path)}/`.includes(`/${wanted}/`))
  if (found.length > 0) return found
  throw new Error(`"${word}" names no test`)
}
