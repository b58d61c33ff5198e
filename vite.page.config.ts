import vue from '@vitejs/plugin-vue'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { firstPaint } from './scripts/page/firstPaint.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The page by itself: what `blockscope serve` hands to a browser, and what Electron's window shows. */
export default defineConfig({
  root: path('./src-renderer'),
  base: './',
  resolve: { alias: { '@shared': path('./src-shared') } },
  plugins: [vue(), ...firstPaint],
  worker: { format: 'es' },
  build: {
    outDir: path('./out/renderer'),
    emptyOutDir: true,
    target: 'chrome120',
    assetsInlineLimit: 0,
    // One style sheet from the start: a part of the page that is loaded again after a lost connection would come without its own.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        // What most views share comes as one file: a dozen small ones took longer than the view itself.
        codeSplitting: {
          groups: [
            // Runs before the first paint, which waits for nothing else.
            { name: 'look', test: /src-renderer[\\/]ground[\\/]look/, priority: 1 },
            {
              name: 'shared',
              test: /src-renderer[\\/](components[\\/](?!DataTable|DropPlace|ExampleCards|OwnFile)|ground[\\/]|stores[\\/](copy|savedForm)|format[\\/]|charts[\\/]theme)/,
              minShareCount: 2
            }
          ]
        }
      }
    }
  }
})
