import vue from '@vitejs/plugin-vue'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** What src-renderer/frame/views.ts names as the first view. */
const firstView = 'views/validate/ValidateView.vue'

/**
 * The first view and the font of its words are asked for with the page, not when a script that has run by then asks for
 * them: a whole journey to the server earlier.
 */
const preloadFirstView: Plugin = {
  name: 'preload-first-view',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle }) {
      if (!bundle) return []
      const files = Object.values(bundle)
      const view = files.find(
        (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith(firstView)
      )
      const font = files.find(({ fileName }) => /inter-latin.*\.woff2$/.test(fileName))
      if (view?.type !== 'chunk' || !font)
        throw new Error(`The page has no ${firstView} or no font: what is asked for first?`)
      const link = (fileName: string, attrs: Record<string, string>) => ({
        tag: 'link',
        attrs: { ...attrs, crossorigin: true, href: `./${fileName}` },
        injectTo: 'head' as const
      })
      return [
        link(font.fileName, { rel: 'preload', as: 'font', type: 'font/woff2' }),
        ...[view.fileName, ...view.imports]
          .filter((fileName) => !html.includes(fileName))
          .map((fileName) => link(fileName, { rel: 'modulepreload' }))
      ]
    }
  }
}

/**
 * V8 compiles the functions of these files as they arrive, beside the page's thread, and not one by one when each is first
 * called: nearly all of what the page starts with runs at once (V8, "Explicit compile hints").
 */
const compileAtOnce: Plugin = {
  name: 'compile-at-once',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
      const starting = chunks.filter(
        ({ isEntry, facadeModuleId }) => isEntry || facadeModuleId?.endsWith(firstView)
      )
      const names = new Set(starting.flatMap(({ fileName, imports }) => [fileName, ...imports]))
      for (const chunk of chunks)
        if (names.has(chunk.fileName)) chunk.code = `//# allFunctionsCalledOnLoad\n${chunk.code}`
    }
  }
}

/** The page by itself: what `blockscope serve` hands to a browser, and what Electron's window shows. */
export default defineConfig({
  root: path('./src-renderer'),
  base: './',
  resolve: { alias: { '@shared': path('./src-shared') } },
  plugins: [vue(), preloadFirstView, compileAtOnce],
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
            {
              name: 'shared',
              test: /src-renderer[\\/](components[\\/](?!DataTable)|ground[\\/]|stores[\\/](copy|savedForm)|format[\\/]|charts[\\/]theme)/,
              minShareCount: 2
            }
          ]
        }
      }
    }
  }
})
