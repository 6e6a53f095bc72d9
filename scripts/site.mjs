// The documents as a static site with search: `npm run site` builds site/dist, `npm run site -- serve` also shows it.
import { fileURLToPath } from 'node:url'
import { capture, node } from './command.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const vitepress = 'site/node_modules/vitepress/bin/vitepress.js'
try {
  // VitePress is no part of the workspace: `npm start` and `npm test` do without it.
  // `npm ci` refuses a lock without the binaries of other platforms.
  await capture('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: 'site',
  })
  await node(vitepress, ['build', 'site'])
  if (process.argv[2] === 'serve') await node(vitepress, ['preview', 'site', '--port', '4173'])
} catch (error) {
  console.error(error.message)
  process.exit(1)
}
