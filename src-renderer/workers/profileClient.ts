/** Calls into the profile worker: each gets its answer or an error, in any order. */
import { UserError } from '@shared/errors'
import type { ProfileReply, ProfileRequest } from './profileProtocol'

type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never
export type ProfileCall = Unnumbered<ProfileRequest>

interface Waiting {
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  onProgress?: (fraction: number) => void
}

export class ProfileClient {
  private readonly waiting = new Map<number, Waiting>()
  private next = 1

  constructor(private readonly worker: Worker) {
    worker.addEventListener('message', ({ data }: MessageEvent<ProfileReply>) => this.take(data))
    worker.addEventListener('error', () => {
      for (const { reject } of this.waiting.values()) {
        reject(new Error('The profile worker stopped: the file may need more memory than is free.'))
      }
      this.waiting.clear()
    })
  }

  call<T>(request: ProfileCall, onProgress?: (fraction: number) => void): Promise<T> {
    const id = this.next++
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (result: unknown) => void, reject, onProgress })
      this.worker.postMessage({ ...request, id })
    })
  }

  stop(): void {
    this.worker.terminate()
    for (const { reject } of this.waiting.values()) reject(new UserError('usage', 'Cancelled.'))
    this.waiting.clear()
  }

  private take(reply: ProfileReply): void {
    const waiting = this.waiting.get(reply.id)
    if (!waiting) return
    if (reply.kind === 'progress') return waiting.onProgress?.(reply.fraction)
    this.waiting.delete(reply.id)
    if (reply.kind === 'done') waiting.resolve(reply.result)
    else waiting.reject(new Error(reply.message))
  }
}
