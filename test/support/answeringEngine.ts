import type { EngineHost } from '../../src-main/engine/engineHost'
import type { FromEngine, ToEngine } from '../../src-main/engine/engineProtocol'

type Call = Extract<ToEngine, { type: 'call' }>

/** An engine that answers every call at once with what `answer` makes of it: for tests of what it is asked. */
export const answeringEngine = (answer: (call: Call) => unknown): EngineHost => ({
  start() {
    let tell: (message: FromEngine) => void = () => {}
    return {
      pid: undefined,
      send(message: ToEngine) {
        if (message.type !== 'call') return
        const value = answer(message)
        queueMicrotask(() => tell({ type: 'result', id: message.id, value }))
      },
      kill: () => {},
      onMessage: (listener: typeof tell) => (tell = listener),
      onExit: () => {},
      lastWords: () => ''
    }
  }
})
