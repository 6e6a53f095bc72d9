// Builds the pages into dist/public, which the application serves under /static/.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: 'src/pages',
  base: '/static/',
  plugins: [react()],
  build: {
    outDir: '../../dist/public',
    emptyOutDir: true,
    assetsDir: '',
    manifest: true,
    rollupOptions: { input: ['src/pages/app.tsx', 'src/pages/style.css'] },
  },
})
