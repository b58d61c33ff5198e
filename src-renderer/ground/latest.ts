/**
 * Answers come in the order in which they are ready, not in that of their questions: one of what was would else be shown for
 * good above one of what is.
 */
import { ref } from 'vue'

/**
 * One question at a time; of those asked meanwhile only the last. An answer is taken unless something that came up since its
 * question was asked overtakes it: another question, or a change of what it is about, after which it is asked again.
 */
export function useLatest<T>(ask: () => Promise<T>, take: (answer: T) => void = () => {}) {
  /** While an answer is looked for. */
  const busy = ref(false)
  let asking: Promise<void> | undefined
  let askAgain = false

  /** Resolves when an answer to a question not older than this call was taken; rejects as `ask` does. */
  function refresh(): Promise<void> {
    askAgain = busy.value = true
    asking ??= askUntilTaken().finally(() => {
      asking = undefined
      busy.value = false
    })
    return asking
  }

  /** What is asked about is another now, and whoever asks knows it already. */
  function changed(): void {
    if (asking) askAgain = true
  }

  async function askUntilTaken(): Promise<void> {
    while (askAgain) {
      askAgain = false
      try {
        const answer = await ask()
        if (!askAgain) take(answer)
      } catch (error) {
        if (!askAgain) throw error
      }
    }
  }

  return { busy, refresh, changed }
}
