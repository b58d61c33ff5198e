/** Parsing, roll-up, filter and diff of profiles, away from the UI thread. */
import { messageOf } from '@shared/errors'
import type { ProfileRequest, ShownProfile } from './profileProtocol'
import { ProfileSession } from './profileSession'
import type { WorkerReply } from './workerClient'

const session = new ProfileSession()

async function answer(request: ProfileRequest): Promise<unknown> {
  switch (request.do) {
    case 'show':
      return session.show(request.query)
    case 'details':
      return session.details(request.node, request.query)
    case 'text':
      return session.text(request.form, request.query)
    default: {
      const bytes = new Uint8Array(await request.file.arrayBuffer())
      const onProgress = (fraction: number) => reply({ id: request.id, kind: 'progress', fraction })
      return request.do === 'open'
        ? session.open(bytes, request.name, onProgress)
        : session.openBaseline(bytes, request.name, onProgress)
    }
  }
}

/** Buffers of the copied tree, which nobody here uses any more. */
function handedOver(result: unknown): ArrayBuffer[] {
  if (typeof result !== 'object' || result === null || !('rows' in result)) return []
  const { rows, x0, x1, tree } = result as ShownProfile
  const arrays: ArrayBufferView[] = [rows, x0, x1]
  if (tree) {
    arrays.push(tree.parent, tree.end, tree.depth, tree.name, tree.frameType)
    arrays.push(tree.strings.bytes, tree.strings.offsets)
    for (const column of tree.numbers) arrays.push(column.values, column.written)
  }
  return [...new Set(arrays.map((array) => array.buffer as ArrayBuffer))]
}

const reply = (message: WorkerReply, transfer: ArrayBuffer[] = []) =>
  postMessage(message, { transfer })

addEventListener('message', ({ data }: MessageEvent<ProfileRequest>) => {
  answer(data).then(
    (result) => reply({ id: data.id, kind: 'done', result }, handedOver(result)),
    (error: unknown) => reply({ id: data.id, kind: 'failed', message: messageOf(error) })
  )
})
