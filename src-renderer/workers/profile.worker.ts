/** Parsing, roll-up, filter and diff of profiles, away from the UI thread. */
import { messageOf } from '@shared/errors'
import type { ProfileRequest, ShownProfile } from './profileProtocol'
import { ProfileSession } from './profileSession'
import { readFiles } from './readFiles'
import type { WorkerReply } from './workerClient'

const session = new ProfileSession()

async function answer(request: ProfileRequest): Promise<unknown> {
  switch (request.do) {
    case 'show':
      return session.show(request.query)
    case 'flame':
      return session.flame(request.query, request.asked)
    case 'sandwich':
      return session.sandwich(request.node, request.query, request.colour)
    case 'details':
      return session.details(request.node, request.query)
    case 'timeline':
      return session.timeline(request.question)
    case 'kernels':
      return session.kernels(request.by)
    case 'text':
      return session.text(request.form, request.query)
    default: {
      const onProgress = (fraction: number) => reply({ id: request.id, kind: 'progress', fraction })
      const { profile, baseline } = await readFiles(request, onProgress)
      if (request.do === 'baseline') return { baseline: session.openBaseline(profile) }
      return {
        profile: session.open(profile),
        ...(baseline && { baseline: session.openBaseline(baseline) })
      }
    }
  }
}

/** Buffers that are made for the answer, which nobody here uses any more. Columns are kept here and are copied. */
function handedOver(result: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>()
  const collect = (value: unknown) => {
    if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer)
    else if (typeof value === 'object' && value !== null && !Array.isArray(value))
      Object.values(value).forEach(collect)
  }
  if (typeof result === 'object' && result !== null && 'rows' in result) {
    const { rows, tree } = result as ShownProfile
    collect(rows)
    if (tree) {
      collect(tree)
      tree.numbers.forEach(collect)
    }
  } else collect(result)
  return [...found]
}

const reply = (message: WorkerReply, transfer: ArrayBuffer[] = []) =>
  postMessage(message, { transfer })

addEventListener('message', ({ data }: MessageEvent<ProfileRequest>) => {
  answer(data).then(
    (result) => reply({ id: data.id, kind: 'done', result }, handedOver(result)),
    (error: unknown) => reply({ id: data.id, kind: 'failed', message: messageOf(error) })
  )
})
