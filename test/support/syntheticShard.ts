/** The bytes of a shard as the library writes them, of any length and without a disk. */
import {
  blockKinds,
  blockMagic,
  headerBytes,
  shardMagic,
  shardVersion
} from '@shared/capture/shardForm'

const counterNames = ['kernelLaunches', 'kernelRecords']

export interface SyntheticShard {
  launches: number
  /** Kernel names, each with as many grids. */
  kernels: number
  shapesOfKernel: number
  /** NVTX ranges, side by side. */
  paths: number
  pid?: number
  /** Launch 1 is measured by counters: its record comes last and has no times. */
  measured?: boolean
}

const launchesOfBlock = 2000
const start = 1_795_000_000_000_000_000n

function header(pid: number, counters: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(headerBytes)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < shardMagic.length; i++) bytes[i] = shardMagic.charCodeAt(i)
  view.setUint32(8, shardVersion, true)
  view.setUint32(12, headerBytes, true)
  view.setUint32(16, pid, true)
  view.setBigUint64(24, start, true)
  // Ended.
  view.setUint32(40, 3, true)
  counters.forEach((count, i) => view.setBigUint64(64 + 8 * i, BigInt(count), true))
  return bytes
}

function block(kind: number, payload: Uint8Array, records: number): Uint8Array {
  const bytes = new Uint8Array(16 + Math.ceil(payload.length / 8) * 8)
  bytes.set(new Uint8Array(Uint32Array.of(blockMagic, kind, payload.length, records).buffer))
  bytes.set(payload, 16)
  return bytes
}

/** A block of a kind that no version writes. */
export const unknownBlock = (bytes: number): Uint8Array => block(99, new Uint8Array(bytes), 0)

/** Pieces of the file, one after the other; kernels come a block behind their launches. */
export function* syntheticShard(form: SyntheticShard): Generator<Uint8Array> {
  const { launches, kernels, shapesOfKernel, paths, pid = 4242, measured = false } = form
  yield header(pid, [launches, launches])
  const lines: object[] = [
    { counters: counterNames },
    { program: '/usr/bin/python3.12', arguments: ['python', 'train.py'] },
    { thread: 0, tid: pid, name: 'python' },
    { call: 0, name: 'cuLaunchKernel' },
    {
      device: 0,
      name: 'GPU',
      uuid: 'ab',
      major: 9,
      minor: 0,
      ...{ multiprocessors: 132, clockRateKHz: 1_980_000 }
    },
    { place: 0, device: 0, context: 1, stream: 7 }
  ]
  for (let path = 1; path <= paths; path++) lines.push({ path, parent: 0, name: `layer ${path}` })
  for (let kernel = 0; kernel < kernels; kernel++)
    lines.push({ kernel, name: `void gemm<${kernel}>(float*, int)` })
  const shapes = kernels * shapesOfKernel
  for (let shape = 0; shape < shapes; shape++)
    lines.push({
      shape,
      kernel: shape % kernels,
      grid: [1 + Math.floor(shape / kernels), 1, 1],
      block: [128, 1, 1],
      cluster: [0, 0, 0],
      registers: 64,
      shared: [0, 32768],
      local: 0
    })
  if (measured)
    lines.push(
      { metrics: 0, names: ['lts__t_bytes.sum'], chip: 'GH100', passes: 3 },
      { measured: 'void gemm<1>(float*, int)', correlation: 1, metricSet: 0, values: [4096] }
    )
  const text = new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  yield block(blockKinds.text, text, 0)
  const low = Number(start & 0xffffffffn)
  const high = Number(start >> 32n)
  const putTime = (words: Uint32Array, at: number, ns: number) => {
    const sum = low + ns
    words[at] = sum % 2 ** 32
    words[at + 1] = high + Math.floor(sum / 2 ** 32)
  }
  const late = new Uint32Array(10)
  for (let first = 1; first <= launches; first += launchesOfBlock) {
    const count = Math.min(launchesOfBlock, launches + 1 - first)
    const calls = new Uint32Array(count * 8)
    const records = new Uint32Array(count * 10)
    for (let i = 0; i < count; i++) {
      const correlation = first + i
      putTime(calls, i * 8, correlation * 3000)
      calls[i * 8 + 2] = 1500
      calls[i * 8 + 3] = correlation
      calls[i * 8 + 4] = 1 + (correlation % paths)
      const began = correlation * 3000 + 5000
      putTime(records, i * 10, began)
      // From 1 to 3 us, as a hash of the launch has it.
      putTime(records, i * 10 + 2, began + 1000 + (Math.imul(correlation, 0x9e3779b1) >>> 21))
      records[i * 10 + 6] = correlation
      records[i * 10 + 7] = correlation % shapes
    }
    yield block(blockKinds.launches, new Uint8Array(calls.buffer), count)
    const isFirst = measured && first === 1
    if (isFirst) late.set(records.subarray(4, 10), 4)
    const now = isFirst ? records.slice(10) : records
    yield block(blockKinds.kernels, new Uint8Array(now.buffer), now.length / 10)
  }
  if (measured) yield block(blockKinds.kernels, new Uint8Array(late.buffer), 1)
}
