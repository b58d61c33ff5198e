import { defineConfig } from 'electron-vite'
import { fileURLToPath } from 'node:url'
import page from './vite.page.config.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const alias = { '@shared': path('./src-shared') }

export default defineConfig({
  main: {
    resolve: { alias },
    build: {
      outDir: 'out/main',
      externalizeDeps: false,
      rollupOptions: {
        input: {
          index: path('./src-main/desktop/index.ts'),
          engine: path('./src-main/engine/engineProcess.ts')
        }
      }
    }
  },
  preload: {
    build: {
      outDir: 'out/preload',
      // A sandboxed preload must be one CommonJS file; electron-vite names it index.cjs.
      externalizeDeps: false,
      rollupOptions: {
        input: { index: path('./src-main/desktop/preload.ts') },
        output: { format: 'cjs' }
      }
    }
  },
  // electron-vite looks for the page elsewhere unless it is told.
  renderer: {
    ...page,
    build: {
      ...page.build,
      rolldownOptions: {
        ...page.build?.rolldownOptions,
        input: path('./src-renderer/index.html')
      }
    }
  }
})
