import { builtinModules } from 'node:module'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The command line and the engine process it forks, for plain Node. */
export default defineConfig({
  resolve: { alias: { '@shared': path('./src-shared') } },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'out/node',
    emptyOutDir: true,
    rollupOptions: {
      input: {
        blockscope: path('./src-main/cli/blockscope.ts'),
        engine: path('./src-main/engine/engineProcess.ts'),
        // The GPU tests drive the addon without the engine.
        kernelManifests: path('./src-main/engine/kernelManifests.ts'),
        launchTimes: path('./src-shared/measurement/launchTimes.ts'),
        readShare: path('./src-shared/measurement/readShare.ts'),
        work: path('./src-shared/measurement/work.ts')
      },
      external: [...builtinModules, /^node:/, /\.node$/],
      output: {
        format: 'es',
        entryFileNames: '[name].js',
        // Beside the entries: code finds the program's folder from the file that it lies in.
        chunkFileNames: '[name]-[hash].js'
      }
    }
  },
  ssr: { noExternal: true }
})
