// The documents as a static site with search: `npm run site` builds site/dist, `npm run site -- serve` also shows it.
import { readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { capture, node } from './command.mjs'
import { filesBelow } from './files.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const vitepress = 'site/node_modules/vitepress/bin/vitepress.js'
const built = join('site', 'dist')
try {
  // VitePress is no part of the workspace: `npm start` and `npm test` do without it.
  // `npm ci` refuses a lock without the binaries of other platforms.
  await capture('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: 'site',
  })
  await node(vitepress, ['build', 'site'])
  const dead = deadFragments()
  if (dead.length > 0) throw new Error(`these links lead to no heading:\n${dead.join('\n')}`)
  if (process.argv[2] === 'serve') await node(vitepress, ['preview', 'site', '--port', '4173'])
} catch (error) {
  console.error(error.message)
  process.exit(1)
}

/** VitePress refuses links to pages that do not exist, and reads no fragment. */
function deadFragments() {
  const files = filesBelow(built).filter((file) => file.endsWith('.html'))
  const pages = new Map(
    files.map((file) => [`/${relative(built, file).replaceAll(sep, '/')}`, readFileSync(file, 'utf8')]),
  )
  const ids = new Map([...pages].map(([page, html]) => [page, new Set(captures(html, /\sid="([^"]+)"/g))]))
  return [...pages].flatMap(([page, html]) =>
    captures(html, /<a [^>]*href="([^":]*#[^"]+)"/g)
      .filter((link) => {
        const [path, fragment] = link.split('#')
        const target = path === '' ? page : posix.resolve(posix.dirname(page), path)
        const found = ids.get(path.endsWith('/') ? posix.join(target, 'index.html') : target)
        return found !== undefined && fragment !== 'readme' && !found.has(decodeURIComponent(fragment))
      })
      .map((link) => `${page}: ${link}`),
  )
}

function captures(text, pattern) {
  return [...text.matchAll(pattern)].map((match) => match[1])
}
