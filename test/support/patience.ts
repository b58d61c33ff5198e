/**
 * How long a test waits, in ms, for what must happen. It is no pace: on a slow machine a test takes longer, it does not fail.
 */
export const patience = 180_000

/** How long a whole test may take, in ms, or what is made before a file's tests: for what hangs. No test has a limit of its own. */
export const testLimit = 1_800_000
