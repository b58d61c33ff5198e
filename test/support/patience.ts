/**
 * How long a test waits, in ms, for what must happen. It is no pace: on a slow machine a test takes longer, it does not fail.
 */
export const patience = 120_000
