// Builds the pages into dist/public, compressed beforehand.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { defineConfig } from 'vite'

const outDir = 'dist/public'

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    // Browsers that have light-dark(): what stands in for it in others works in no shadow root.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      preserveEntrySignatures: 'exports-only',
      input: {
        app: 'src/browser/element.tsx',
        palette: 'src/browser/palette.ts',
        'palette-dialog': 'src/browser/palette-dialog.tsx',
      },
      output: {
        // All that the first load needs in one file: without this, what the lazy parts share with it would be another one.
        codeSplitting: {
          groups: [
            { name: 'app', test: /browser\/element\.tsx$/ },
            {
              name: 'later',
              test: /browser\/(?:later|model\/search|view\/highlight)\.ts$/,
            },
          ],
        },
        entryFileNames: '[name].[hash:12].js',
        chunkFileNames: '[name].[hash:12].js',
        assetFileNames: ({ names }) =>
          names.some((name) => name.endsWith('.css')) ? 'app.[hash:12].css' : '[name].[hash:12][extname]',
      },
    },
  },
  plugins: [
    { name: 'texts-and-element', generateBundle: addFiles, closeBundle: compressAll },
    { name: 'plain-imports', enforce: 'pre', resolveId: findPlainImport, load: loadPlainImport },
  ],
})

const preloadHelper = '\0vite/preload-helper.js'

/** What Vite puts around `import()` preloads style sheets and modules: the pages have none to preload. */
function findPlainImport(id) {
  return id === preloadHelper ? id : null
}

function loadPlainImport(id) {
  return id === preloadHelper ? 'export const __vitePreload = (load) => load()' : null
}

/** The texts of each language, and the scripts whose names stay. */
async function addFiles(_options, bundle) {
  for (const name of await readdir('src/texts')) {
    if (!name.endsWith('.json')) continue
    const texts = JSON.parse(await readFile(`src/texts/${name}`, 'utf8'))
    this.emitFile({ type: 'asset', name, source: JSON.stringify(texts) })
  }
  const entries = Object.values(bundle).filter(({ isEntry }) => isEntry)
  for (const { name, fileName } of entries) {
    const stays = name === 'app' ? 'element.js' : `${name}.js`
    this.emitFile({ type: 'asset', fileName: stays, source: `export * from './${fileName}'\n` })
  }
  this.emitFile({ type: 'asset', fileName: 'close.js', source: 'close()\n' })
}

async function compressAll() {
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
  const names = process.env.PAGES === 'quick' ? [] : await readdir(outDir) // `npm run dev` does without
  for (const name of names) {
    const file = `${outDir}/${name}`
    const content = await readFile(file)
    await writeFile(`${file}.br`, await promisify(brotliCompress)(content, options))
    await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
  }
}
