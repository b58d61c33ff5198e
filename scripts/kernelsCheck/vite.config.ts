import { builtinModules } from 'node:module'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** vite build --config scripts/kernelsCheck/vite.config.ts && node out/kernelsCheck/main.js */
export default defineConfig({
  root: path('../..'),
  resolve: { alias: { '@shared': path('../../src-shared') } },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'out/kernelsCheck',
    emptyOutDir: true,
    rollupOptions: {
      input: { main: path('./main.ts') },
      external: [...builtinModules, /^node:/],
      output: { format: 'es', entryFileNames: '[name].js' }
    }
  },
  ssr: { noExternal: true }
})
