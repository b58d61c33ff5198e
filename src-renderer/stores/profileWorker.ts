/** The worker that holds the open profile: started with the first call, ended to stop a reading. */
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
