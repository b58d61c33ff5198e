import vue from '@vitejs/plugin-vue'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const alias = {
  '@shared': fileURLToPath(new URL('./src-shared', import.meta.url)),
  // Importing the real 'electron' under plain Node starts a download; only a test that mocks it may import it.
  electron: fileURLToPath(new URL('./test/support/electronStub.ts', import.meta.url))
}

export default defineConfig({
  test: {
    reporters: ['default', './test/support/summaryReporter.ts'],
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          environment: 'node',
          include: ['test/unit/**/*.test.ts'],
          exclude: ['test/unit/renderer/**'],
          globalSetup: ['test/support/buildNode.ts'],
          testTimeout: 30_000
        }
      },
      {
        plugins: [vue()],
        resolve: { alias },
        test: {
          name: 'renderer',
          environment: 'happy-dom',
          include: ['test/unit/renderer/**/*.test.ts'],
          testTimeout: 15_000
        }
      },
      {
        resolve: { alias },
        test: {
          name: 'e2e',
          environment: 'node',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/buildNode.ts', 'test/support/buildPage.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false
        }
      }
    ]
  }
})
