/** Lets the page answer and paint before work that follows: what would hold it for long is done in several tasks. */
export const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done))
