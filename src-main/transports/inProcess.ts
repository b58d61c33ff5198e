import type { Handlers } from '@shared/contract/methods'
import { connectPeer, serve } from '@shared/rpc/peer'
import type { PeerClient, ServeOptions } from '@shared/rpc/peer'
import type { Wire } from '@shared/rpc/wire'

/**
 * A client of handlers in this same process. Values are handed over as they are, not copied, yet parsed by the contract
 * like everywhere else, so that the command line and the page get the same answers to the same mistakes.
 */
export function connectInProcess(handlers: Handlers, options?: ServeOptions): PeerClient {
  const [mine, theirs] = wirePair()
  const client = connectPeer(mine)
  serve(theirs, handlers, options)
  return client
}

function wirePair(): [Wire, Wire] {
  const frameListeners: ((frame: unknown) => void)[][] = [[], []]
  const closeListeners: ((reason: string) => void)[] = []
  let closed = false

  const side = (own: number): Wire => ({
    send(frame) {
      if (closed) return
      queueMicrotask(() => {
        if (!closed) for (const listener of frameListeners[1 - own]!) listener(frame)
      })
    },
    onFrame: (listener) => void frameListeners[own]!.push(listener),
    onClose: (listener) => void closeListeners.push(listener),
    close(reason) {
      if (closed) return
      closed = true
      for (const listener of closeListeners) listener(reason)
    },
    isCongested: () => false
  })
  return [side(0), side(1)]
}
