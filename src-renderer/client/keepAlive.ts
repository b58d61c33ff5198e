import type { Client } from '@shared/contract/methods'
import type { PeerClient } from '@shared/rpc/peer'

export const idleMs = 20_000
export const answerMs = 10_000
const lookMs = 1000

/**
 * Asks a sign of life of a connection that has been silent for a while, and closes it when none comes: after a laptop woke
 * up, or a tunnel broke, a browser itself would not notice for minutes.
 */
export function keepAlive(peer: PeerClient): PeerClient {
  let lastSign = Date.now()
  /** Looks since the question: while the page itself was busy, or slept, no answer could be heard. */
  let looks: number | undefined

  const timer = setInterval(() => {
    if (looks !== undefined) {
      if (++looks * lookMs >= answerMs) peer.close()
    } else if (Date.now() - lastSign >= idleMs) {
      looks = 0
      const answered = () => {
        lastSign = Date.now()
        looks = undefined
      }
      // An error is an answer too.
      peer.call('app.info', {}).then(answered, answered)
    }
  }, lookMs)
  peer.onClose(() => clearInterval(timer))

  const call: Client['call'] = async (method, input, options = {}) => {
    const onProgress = options.onProgress
    const output = await peer.call(method, input, {
      ...options,
      onProgress: (value) => {
        lastSign = Date.now()
        onProgress?.(value)
      }
    })
    lastSign = Date.now()
    return output
  }
  return { ...peer, call }
}
