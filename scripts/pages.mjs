// Builds the front end of the package in whose folder it runs; `--watch` does so after each change and prints "built".
// Writes the modules that Vite has read into the file that is named first, one path a line.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

const [list, flag] = process.argv.slice(2)
const { build } = await import(
  pathToFileURL(createRequire(join(process.cwd(), 'package.json')).resolve('vite'))
)
const root = join(import.meta.dirname, '..')

const reads = {
  name: 'reads',
  generateBundle() {
    const files = [...this.getModuleIds()]
      .map((id) => relative(root, id.split('?')[0]))
      .filter((path) => path.startsWith('packages/') && !path.includes('node_modules/'))
    writeFileSync(list, [...new Set(files)].toSorted().join('\n'))
  },
}

const isWatching = flag === '--watch'
const result = await build({
  logLevel: 'warn',
  plugins: [reads],
  build: isWatching ? { watch: {} } : {},
})
if (isWatching) {
  result.on('event', ({ code, error }) => {
    if (code === 'END') console.log('built')
    if (code === 'ERROR') console.error(error.message)
  })
}
