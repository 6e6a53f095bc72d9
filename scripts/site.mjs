// The documents as a static site with search: `npm run site` builds site/dist, `npm run site -- serve` also shows it.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { node } from './command.mjs'
import { installApart } from './install-apart.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const vitepress = join('site', 'node_modules/vitepress/bin/vitepress.js')
try {
  installApart('site', 'VitePress')
  await node(vitepress, ['build', 'site'])
  if (process.argv[2] === 'serve') await node(vitepress, ['preview', 'site', '--port', '4173'])
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
