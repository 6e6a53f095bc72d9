// Makes the next version from the changesets: `changeset version`, then the range of core that the packages name as peer: that
// of their own minor version, because `core/internal` may change with each.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { node } from './command.mjs'
import { manifestOf, packageFolders } from './files.mjs'

const core = '@fastify-modular/core'

setPeerRange('>=0.0.0 <1.0.0') // of a package whose peer leaves its range changesets make 1.0.0
await node(createRequire(import.meta.url).resolve('@changesets/cli/bin.js'), ['version'])
const [major, minor] = manifestOf('packages/core').version.split('.')
if (major !== '0') throw new Error(`the next version is ${major}.${minor}: packages stay below 1.0.0`)
setPeerRange(`~0.${minor}.0`)

function setPeerRange(range) {
  for (const folder of packageFolders()) {
    const found = manifestOf(folder).peerDependencies?.[core]
    if (found === undefined || found === range) continue
    const file = join(folder, 'package.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace(`"${core}": "${found}"`, `"${core}": "${range}"`))
  }
}
