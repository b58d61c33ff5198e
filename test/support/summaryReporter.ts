import type { Reporter, TestModule } from 'vitest/node'

/** Ends the run with one plain line, 'N passed, N failed, N skipped', that any CI can read, after what needed a second try to pass. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      let failedTests = 0
      for (const test of module.children.allTests()) {
        const state = test.result().state
        if (state === 'failed') failedTests++
        if (state !== 'pending') count[state]++
        if (test.diagnostic()?.flaky) {
          console.log(`\nPassed at its second try only: ${module.moduleId}, ${test.fullName}`)
          for (const { message } of test.result().errors ?? []) console.log(message)
        }
      }
      // A file that does not load, or a set-up that fails, has no failed test of its own.
      if (module.state() === 'failed' && failedTests === 0) count.failed++
    }
    console.log(`\n${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
  }
}
