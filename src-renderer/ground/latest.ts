/**
 * Answers come in the order in which they are ready, not in that of their questions: one of what was would else be shown for
 * good above one of what is.
 */
import { ref } from 'vue'

/**
 * One question at a time, so that answers come in order; of those asked meanwhile only the last is asked. An answer is taken
 * unless its question, or what it is about, changed since: then it is asked again.
 */
export function useLatest<T>(ask: () => Promise<T>, take: (answer: T) => void = () => {}) {
  /** While an answer is looked for. */
  const busy = ref(false)
  let asking: Promise<void> | undefined
  let askAgain = false
  let isLate = false

  /** Resolves when an answer to a question not older than this call was taken; rejects as `ask` does. */
  function refresh(): Promise<void> {
    askAgain = busy.value = true
    asking ??= askUntilTaken().finally(() => {
      asking = undefined
      busy.value = false
    })
    return asking
  }

  /** Another question: no answer to one before is taken. */
  function askAnother(): Promise<void> {
    changed()
    return refresh()
  }

  /** What is asked about is another now: an answer that is on its way is of what was. */
  function changed(): void {
    if (asking) askAgain = isLate = true
  }

  async function askUntilTaken(): Promise<void> {
    while (askAgain) {
      askAgain = isLate = false
      try {
        const answer = await ask()
        if (!isLate) take(answer)
      } catch (error) {
        if (!askAgain) throw error
      }
    }
  }

  return { busy, refresh, askAnother, changed }
}
