/** The worker that holds the open profile: started with the first call, ended to stop a reading. */
import { ref } from 'vue'
import type { ProfileRequest } from '../workers/profileProtocol'
import { WorkerClient } from '../workers/workerClient'

type WithoutId<R> = R extends unknown ? Omit<R, 'id'> : never
type Question = WithoutId<ProfileRequest>

export function useProfileWorker() {
  let client: WorkerClient<ProfileRequest> | undefined

  function call<T>(question: Question, onProgress?: (fraction: number) => void): Promise<T> {
    client ??= new WorkerClient(
      new Worker(new URL('../workers/profile.worker.ts', import.meta.url), { type: 'module' }),
      'The profile worker stopped: the file may need more memory than is free.'
    )
    return client.call<T>(question, onProgress)
  }

  function stop(): void {
    client?.stop()
    client = undefined
  }

  return { call, stop }
}

/** One question at a time: those that a later one overtakes are not asked. */
export function useLatest(ask: () => Promise<void>) {
  /** While an answer is looked for. */
  const busy = ref(false)
  let asking: Promise<void> | undefined
  let askAgain = false

  function refresh(): Promise<void> {
    askAgain = busy.value = true
    asking ??= askUntilAnswered().finally(() => {
      asking = undefined
      busy.value = false
    })
    return asking
  }

  async function askUntilAnswered(): Promise<void> {
    while (askAgain) {
      askAgain = false
      await ask()
    }
  }

  return { busy, refresh }
}
