/** Calls into a worker: each gets its answer or an error, in any order. */
import { UserError } from '@shared/errors'

export type WorkerReply =
  | { id: number; kind: 'progress'; fraction: number }
  | { id: number; kind: 'failed'; message: string }
  | { id: number; kind: 'done'; result: unknown }

type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never

interface Waiting {
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  onProgress?: (fraction: number) => void
}

/** `Request`: what the worker takes; `stopped`: what is said when it dies, as it does when memory runs out. */
export class WorkerClient<Request extends { id: number }> {
  private readonly waiting = new Map<number, Waiting>()
  private next = 1

  constructor(
    private readonly worker: Worker,
    stopped: string
  ) {
    worker.addEventListener('message', ({ data }: MessageEvent<WorkerReply>) => this.take(data))
    worker.addEventListener('error', () => {
      for (const { reject } of this.waiting.values()) {
        reject(new Error(stopped))
      }
      this.waiting.clear()
    })
  }

  call<T>(request: Unnumbered<Request>, onProgress?: (fraction: number) => void): Promise<T> {
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

  private take(reply: WorkerReply): void {
    const waiting = this.waiting.get(reply.id)
    if (!waiting) return
    if (reply.kind === 'progress') return waiting.onProgress?.(reply.fraction)
    this.waiting.delete(reply.id)
    if (reply.kind === 'done') waiting.resolve(reply.result)
    else waiting.reject(new Error(reply.message))
  }
}
