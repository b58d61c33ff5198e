// Speaks the protocol of resources/providers/triton/README.md without Python, torch or a GPU. STAND_IN says how it behaves.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const how = process.env.STAND_IN ?? ''
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

const launch = (name, startNs, endNs) => ({
  ...{ name, startNs, endNs, stream: 7, grid: [64, 1, 1], block: [256, 1, 1] },
  ...{ registersPerThread: 168, sharedMemoryBytes: 98304 }
})

const answers = {
  detect: () => ({
    ...{ python: '3.12.3', torch: '2.9.0', triton: '3.6.0' },
    uuid: 'gpu-10101010-1010-1010-1010-101010101010'.slice(4),
    formats: { mxfp4: { level: 'exact', reason: 'Upcast to bf16.', instruction: 'bf16' } }
  }),
  run({ m, n, k, operands, result, recordLaunches }) {
    const bytes = (name) => readFileSync(join(operands, `${name}.bin`)).length
    if (bytes('aCodes') !== m * k || bytes('bScales') !== (n * k) / 32) throw new Error('operands')
    if (how !== 'writes no C')
      writeFileSync(result, Buffer.alloc(how === 'writes half of C' ? m * n : m * n * 2, 0x3c))
    const cupti = how !== 'no CUPTI'
    const launches = [launch('block_scaled_matmul', 0, 9500), launch('epilogue', 10_000, 10_500)]
    return {
      best: { tile: [128, 256, 128], warps: 8, stages: 3 },
      samplesNs: [11_000, 10_000, 10_500],
      operandSets: 4,
      launches: recordLaunches ? (cupti ? launches : launches.slice(0, 1)) : [],
      launchSource: recordLaunches ? (cupti ? 'CUPTI' : 'CUDA events') : ''
    }
  }
}

let isBusy = false
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  // As provider.py: the next line is read when the one before is answered.
  if (isBusy) return
  isBusy = how === 'hangs' || how === 'says nothing'
  if (method === 'end') return process.exit(0)
  if (how === 'dies') process.exit(3)
  if (how === 'hangs') {
    writeFileSync(process.env.STAND_IN_PID ?? '/dev/null', String(process.pid))
    return void setInterval(() => {}, 1000)
  }
  process.stdout.write('a library that prints\n')
  if (how === 'prints garbage') {
    process.stdout.write('{"id": 1, "result"\n\u0000\ufffd[]\n"text"\nnull\n')
    return process.exit(0)
  }
  if (how === 'says nothing') return void setInterval(() => say({ id, event: {} }), 20)
  say({ id, event: { tile: [64, 64, 64], error: 'does not fit' } })
  if (how === 'usage' || how === 'unavailable')
    return say({ id, error: { code: how, message: `It is ${how}.` } })
  if (how === 'another form') return say({ id, result: { samplesNs: 'none' } })
  say({ id, result: answers[method](params) })
})
