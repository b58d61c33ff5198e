/** Detection of a layout by a product, which takes a second or more, away from the UI thread. */
import { messageOf } from '@shared/errors'
import { readArrays } from '@shared/formats/arrayFiles'
import { detectFromProduct } from '@shared/layouts/detectProduct'
import { productLines } from '@shared/layouts/detectWords'
import { productOperandsOf } from '@shared/operands/productOperands'
import type { LayoutRequest, ProductAnswer } from './layoutProtocol'
import type { WorkerReply } from './workerClient'

const reply = (message: WorkerReply) => postMessage(message)

async function answer(request: LayoutRequest): Promise<ProductAnswer> {
  const { id, packed, side, operands: file, name, layouts } = request
  const arrays = readArrays(new Uint8Array(await file.arrayBuffer()), name, '')
  const operands = productOperandsOf(arrays, side)
  const detection = detectFromProduct(operands, packed, layouts, (fraction) =>
    reply({ id, kind: 'progress', fraction })
  )
  const rows = side === 'a' ? operands.m : operands.n
  return { detection, lines: productLines(detection, packed.length, { side, rows }) }
}

addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
  answer(data).then(
    (result) => reply({ id: data.id, kind: 'done', result }),
    (error: unknown) => reply({ id: data.id, kind: 'failed', message: messageOf(error) })
  )
})
