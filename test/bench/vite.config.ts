import { builtinModules } from 'node:module'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** The benchmarks, for plain Node: vite build --config test/bench/vite.config.ts && node out/bench/profile.js */
export default defineConfig({
  root: path('../..'),
  resolve: { alias: { '@shared': path('../../src-shared') } },
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'out/bench',
    emptyOutDir: true,
    rollupOptions: {
      input: {
        profile: path('./profile.ts'),
        traceOnce: path('./traceOnce.ts'),
        capture: path('./capture.ts'),
        capturePython: path('./capturePython.ts'),
        formats: path('./formats.ts'),
        checkpoint: path('./checkpoint.ts'),
        estimates: path('./estimates.ts'),
        auto: path('./auto.ts'),
        lanes: path('./lanes.ts'),
        limits: path('./limits.ts'),
        gate: path('./gate.ts'),
        'ui/main': path('./ui/main.ts')
      },
      external: [...builtinModules, /^node:/, 'playwright-core'],
      output: { format: 'es', entryFileNames: '[name].js' }
    }
  },
  ssr: { noExternal: true }
})
