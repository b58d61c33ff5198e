import type { Client } from '@shared/contract/methods'
import type { PeerClient } from '@shared/rpc/peer'

export const idleMs = 20_000
export const answerMs = 10_000

/**
 * Asks a sign of life of a connection that has been silent for a while, and closes it when none comes: after a laptop woke
 * up, or a tunnel broke, a browser itself would not notice for minutes.
 */
export function keepAlive(peer: PeerClient): PeerClient {
  let lastSign = Date.now()
  let asked: number | undefined

  const timer = setInterval(() => {
    const now = Date.now()
    if (asked !== undefined) {
      if (now - asked >= answerMs) peer.close()
    } else if (now - lastSign >= idleMs) {
      asked = now
      const answered = () => {
        lastSign = Date.now()
        asked = undefined
      }
      // An error is an answer too.
      peer.call('app.info', {}).then(answered, answered)
    }
  }, 1000)
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
