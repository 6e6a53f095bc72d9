// Builds the front end of the package in whose folder it runs, and writes the modules that Vite has read into the file that is named, one path a line.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [list] = process.argv.slice(2)
const root = fileURLToPath(new URL('..', import.meta.url))
const vite = createRequire(join(process.cwd(), 'package.json')).resolve('vite')
const { build } = await import(pathToFileURL(vite))

const reads = {
  name: 'reads',
  generateBundle() {
    const files = [...this.getModuleIds()]
      .map((id) => relative(root, id.split('?')[0]))
      .filter((path) => path.startsWith('packages/') && !path.includes('node_modules/'))
    writeFileSync(list, [...new Set(files)].toSorted().join('\n'))
  },
}
await build({ logLevel: 'warn', plugins: [reads] })
