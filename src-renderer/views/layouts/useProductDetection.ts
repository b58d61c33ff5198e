/** Detection by a product in a worker; a new question or the end of the view stops the one under way. */
import { onScopeDispose, shallowRef } from 'vue'
import { messageOf } from '@shared/errors'
import type { LayoutRequest, ProductAnswer } from '../../workers/layoutProtocol'
import { WorkerClient } from '../../workers/workerClient'

export function useProductDetection() {
  /** 0 to 1 while it runs. */
  const fraction = shallowRef<number>()
  const answer = shallowRef<ProductAnswer>()
  const problem = shallowRef<string>()
  let client: WorkerClient<LayoutRequest> | undefined

  function stop(): void {
    client?.stop()
    client = undefined
    fraction.value = undefined
  }

  async function ask(question: Omit<LayoutRequest, 'id'>): Promise<void> {
    stop()
    answer.value = problem.value = undefined
    fraction.value = 0
    const mine = new WorkerClient<LayoutRequest>(
      new Worker(new URL('../../workers/layout.worker.ts', import.meta.url), { type: 'module' }),
      'The detection stopped: the operands may need more memory than is free.'
    )
    client = mine
    try {
      const found = await mine.call<ProductAnswer>(question, (now) => {
        if (client === mine) fraction.value = now
      })
      if (client === mine) answer.value = found
    } catch (error) {
      if (client === mine) problem.value = messageOf(error)
    }
    if (client === mine) stop()
  }

  onScopeDispose(stop)
  return { fraction, answer, problem, ask, stop }
}
