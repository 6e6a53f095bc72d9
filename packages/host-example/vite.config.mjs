// Builds the pages into dist/public, which the application serves under /static/, compressed beforehand.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const outDir = 'dist/public'

export default defineConfig({
  root: 'src/pages',
  base: '/static/',
  plugins: [react(), { name: 'compress', closeBundle: compressAll }],
  build: {
    outDir: join('../..', outDir),
    emptyOutDir: true,
    assetsDir: '',
    manifest: true,
    modulePreload: false,
    rollupOptions: {
      input: ['client.tsx', 'style.css'].map((name) => join('src/pages', name)),
    },
  },
})

async function compressAll() {
  if (process.env.PAGES === 'quick') return // `npm run dev`: compressing takes longer than building
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } }
  const names = (await readdir(outDir, { recursive: true })).filter((name) => /\.(?:js|css)$/.test(name))
  for (const file of names.map((name) => join(outDir, name))) {
    const content = await readFile(file)
    await writeFile(`${file}.br`, await promisify(brotliCompress)(content, options))
    await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
  }
}
