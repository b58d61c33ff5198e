import vue from '@vitejs/plugin-vue'
import { readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import LongFilesFirst from './test/support/longFilesFirst'
import { patience, testLimit } from './test/support/patience'

const alias = {
  '@shared': fileURLToPath(new URL('./src-shared', import.meta.url)),
  // Importing the real 'electron' under plain Node starts a download; only a test that mocks it may import it.
  electron: fileURLToPath(new URL('./test/support/electronStub.ts', import.meta.url))
}

// Limits are for what hangs, not for what is slow: test/support/patience.ts.
const limits = {
  testTimeout: testLimit,
  hookTimeout: testLimit,
  setupFiles: ['test/support/setupPatience.ts'],
  // What a list that should be empty has in it: the line is all that remains of a test which passed at its second try.
  chaiConfig: { truncateThreshold: 400 },
  expect: { poll: { timeout: patience } }
}

// Processes and browsers beside one another on a busy machine: the last lines of a run name what passed only at its second try.
const secondTry = { retry: 1 }

// Of what changes nothing of its process, one worker loads the modules once for all files; the files of e2e share its browser too.
const together = { isolate: false }

/** These replace modules, or begin before all others. */
const apart = [
  'test/unit/main/cli/fleetSlurm.test.ts',
  'test/unit/main/cli/open.test.ts',
  'test/unit/main/jobs/arrayFiles.test.ts'
]
const mainFiles = ['capture', 'cli', 'ground', 'jobs', 'server', 'store', 'transports']
  .flatMap((room) =>
    readdirSync(`test/unit/main/${room}`).map((name) => `test/unit/main/${room}/${name}`)
  )
  .filter((path) => path.endsWith('.test.ts') && !apart.includes(path))

export default defineConfig({
  test: {
    // Each file has servers, stores and browsers of its own. One more than cores: most files wait for a process they started.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFilesFirst },
    reporters: ['default', './test/support/summaryReporter.ts'],
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          environment: 'node',
          include: ['test/unit/**/*.test.ts'],
          exclude: ['test/unit/renderer/**', 'test/unit/shared/**', ...mainFiles],
          globalSetup: ['test/support/setupUnit.ts'],
          ...secondTry,
          ...limits
        }
      },
      {
        resolve: { alias },
        test: {
          name: 'main',
          environment: 'node',
          include: mainFiles,
          globalSetup: ['test/support/setupUnit.ts'],
          ...secondTry,
          ...together,
          ...limits
        }
      },
      {
        resolve: { alias },
        test: {
          name: 'shared',
          environment: 'node',
          include: ['test/unit/shared/**/*.test.ts'],
          globalSetup: ['test/support/setupUnit.ts'],
          ...together,
          ...limits
        }
      },
      {
        plugins: [vue()],
        resolve: { alias },
        test: {
          name: 'renderer',
          environment: 'happy-dom',
          include: ['test/unit/renderer/**/*.test.ts'],
          ...together,
          ...limits
        }
      },
      {
        resolve: { alias },
        test: {
          name: 'e2e',
          environment: 'node',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['test/support/setupE2e.ts'],
          ...secondTry,
          ...together,
          ...limits,
          // Each look searches a page by roles and names, which takes it tens of milliseconds.
          expect: { poll: { timeout: patience, interval: 200 } }
        }
      }
    ]
  }
})
