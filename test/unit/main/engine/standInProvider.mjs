// Answers as resources/providers/host.py does, without Python, torch or a GPU. STAND_IN says how it behaves.
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const how = process.env.STAND_IN ?? ''
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

const launch = (name, startNs, endNs) => ({
  ...{ name, startNs, endNs, stream: 7, grid: [64, 1, 1], block: [256, 1, 1] },
  ...{ registersPerThread: 168, sharedMemoryBytes: 98304 }
})

const kernel = (id, more = {}) => ({
  ...{ id, summary: 'A stand-in.', device: 'cuda', scaleLayout: 'linear', codes: 'packed' },
  ...{
    outputs: ['f16', 'bf16', 'f32'],
    takes: {},
    baseline: false,
    operandBits: 0,
    compileOptions: ''
  },
  ...{ version: '3.6.0, torch 2.9.0', uuid: '10101010-1010-1010-1010-101010101010', reason: '' },
  formats: { mxfp4: { level: 'exact', reason: 'Upcast to bf16.', instruction: 'bf16' } },
  ...more
})
const refused = { reason: 'It needs torch.', uuid: '', version: '', formats: {} }

const answers = {
  detect: () => ({
    protocol: how === 'older' ? 1 : 2,
    python: '3.12.3',
    kernels:
      how === 'refuses all'
        ? [kernel('triton', refused)]
        : [kernel('triton'), kernel('triton-fast-math'), kernel('triton-tma', refused)]
  }),
  run({ m, n, k, files, result, rules, chosen }) {
    const size = (name) => readFileSync(files[name].path).length
    if (size('a') !== (m * k) / 2 || size('bScales') !== (n * k) / 32) throw new Error('operands')
    if (result !== null && how !== 'writes no C')
      writeFileSync(result, Buffer.alloc(how === 'writes half of C' ? m * n : m * n * 2, 0x3c))
    const cupti = how !== 'no CUPTI'
    return {
      protocol: 2,
      ...{ samplesNs: [11_000, 10_000, 10_500], launchesPerSample: 12 },
      ...{ stopReason: 'fixed', warmupNs: 5 },
      chosen: chosen ?? { configuration: { warps: 8 }, words: 'best of 2: warps 8' },
      ...{ operandSets: 4, clock: 'CUDA events' },
      launches:
        rules.recordLaunches && cupti
          ? [launch('block_scaled_matmul', 0, 9500), launch('epilogue', 10_000, 10_500)]
          : [],
      launchSource: rules.recordLaunches && cupti ? 'CUPTI' : '',
      ...{ sustainedNs: 0, sustainedCount: 0 }
    }
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { method, ...params } = JSON.parse(line)
    process.stderr.write('LLVM ERROR: no such instruction\nsome more\n')
    if (how === 'dies') process.exit(3)
    if (how === 'hangs') {
      writeFileSync(process.env.STAND_IN_PID ?? '/dev/null', String(process.pid))
      say({ event: { phase: 'run' } })
      return void setInterval(() => {}, 1000)
    }
    if (how === 'prints garbage') {
      process.stdout.write('{"result"\n\u0000\ufffd[]\n"text"\nnull\n')
      return process.exit(0)
    }
    say({ event: { configuration: {}, error: 'does not fit' } })
    if (['usage', 'unavailable', 'failed'].includes(how))
      return say({ error: { code: how, message: `It is ${how}.` } })
    if (how === 'another form') return say({ result: { samplesNs: 'none' } })
    say({ result: answers[method](params) })
  })
  // As host.py: the process that asked is gone.
  .on('close', () => process.exit(1))
