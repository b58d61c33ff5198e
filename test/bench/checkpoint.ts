/**
 * Checkpoints: MB of bf16 input a second, for every format and rule: the TypeScript reference on one core, quantising in the
 * addon on all cores in files that are in memory, and the whole command with its start, its comparison with the original
 * and the disk. `node out/bench/checkpoint.js [megabytes]`.
 */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { findConvention } from '@shared/checkpoints/conventions'
import { decodeFloats } from '@shared/formats/floatTensor'
import { numberFormats, type NumberFormat } from '@shared/formats/numberFormat'
import { packFp4 } from '@shared/formats/pack'
import { nvfp4RuleFor, quantizeMx, quantizeNvfp4, scaleRules } from '@shared/formats/quantize'
import { planFile } from '@shared/formats/safetensors'
import type { NativeBinding } from '../../src-main/engine/nativeBinding'

const megabytes = Number(process.argv[2] ?? 512)
const [rows, k] = [4096, 4096]
const weightBytes = rows * k * 2
const weights = Math.max(1, Math.round((megabytes * 1e6) / weightBytes))
const folder = mkdtempSync(join(tmpdir(), 'bench-checkpoint-'))
const at = (name: string) => join(folder, name)
const require = createRequire(import.meta.url)
const addon = require(resolve('native/build/Release/blockscope.node')) as NativeBinding
const cancel = addon.createCancelFlag()

/** Sums of four uniform draws, as bfloat16. */
function randomWeight(): Uint8Array {
  let state = 1
  const draw = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  const floats = Float32Array.from(
    { length: rows * k },
    () => draw() + draw() + draw() + draw() - 2
  )
  return new Uint8Array(new Uint16Array(floats.buffer).filter((_, i) => i % 2 === 1).buffer)
}

const one = randomWeight()
const source = at('bf16.safetensors')
const file = planFile(
  source,
  Array.from({ length: weights }, (_, i) => ({
    name: `layers.${i}.up.weight`,
    dtype: 'BF16',
    shape: [rows, k],
    byteLength: weightBytes
  })),
  {}
)
const descriptor = openSync(source, 'w')
writeSync(descriptor, file.head)
for (let i = 0; i < weights; i++) writeSync(descriptor, one)
closeSync(descriptor)
readFileSync(source)

const mb = (bytes: number, milliseconds: number) => (bytes / 1e3 / milliseconds).toFixed(1)

async function best(repetitions: number, work: () => unknown): Promise<number> {
  let least = Infinity
  for (let i = 0; i < repetitions; i++) {
    const started = performance.now()
    await work()
    least = Math.min(least, performance.now() - started)
  }
  return least
}

interface Form {
  title: string
  element: NumberFormat
  scale: NumberFormat
  scaleBlockSize: number
  convention?: string
}
const { e2m1, e2m3, e3m2, e4m3, e5m2, e8m0, ue4m3 } = numberFormats
const mx = (title: string, element: NumberFormat, convention?: string): Form => ({
  title,
  element,
  scale: e8m0,
  scaleBlockSize: 32,
  ...(convention ? { convention } : {})
})
const forms: Form[] = [
  mx('mxfp4', e2m1, 'compressed-tensors-mxfp4'),
  { title: 'nvfp4', element: e2m1, scale: ue4m3, scaleBlockSize: 16, convention: 'modelopt-nvfp4' },
  mx('mxfp8 e4m3', e4m3, 'mxfp8'),
  mx('mxfp8 e5m2', e5m2),
  mx('mxfp6 e2m3', e2m3),
  mx('mxfp6 e3m2', e3m2)
]

function reference({ element, scale, scaleBlockSize }: Form, rule: (typeof scaleRules)[number]) {
  const bytes = one.subarray(0, 2 ** 20)
  const values = decodeFloats('BF16', bytes)
  const { codes } =
    scale === ue4m3
      ? quantizeNvfp4(values, nvfp4RuleFor(rule))
      : quantizeMx(values, element, scaleBlockSize, rule)
  if (element.storageBits === 4) packFp4(codes)
}

async function native(form: Form, rule: (typeof scaleRules)[number]): Promise<number> {
  const values = {
    rowsPerMatrix: rows,
    k,
    place: { path: source, position: file.head.length },
    real: 'BF16'
  }
  const all = { from: 0, to: rows * weights }
  const codeBytes = (rows * weights * k * (form.element.storageBits === 4 ? 4 : 8)) / 8
  const target = openSync(at('codes'), 'w')
  ftruncateSync(target, codeBytes + (rows * weights * k) / form.scaleBlockSize)
  closeSync(target)
  return best(2, async () => {
    const isNvfp4 = form.scale === ue4m3
    const largest = isNvfp4 ? (await addon.scanValues(values, all, cancel)).largest : 1
    const to = {
      form: {
        element: form.element.name,
        scale: form.scale.name,
        scaleBlockSize: form.scaleBlockSize,
        rule,
        tensorScale: isNvfp4 ? largest / (448 * 6) : 1
      },
      codes: { path: at('codes'), position: 0 },
      scales: { path: at('codes'), position: codeBytes },
      layout: 'linear'
    }
    await addon.quantizeRows(values, all, to, cancel)
  })
}

function command(...words: string[]): void {
  rmSync(at('out'), { force: true })
  execFileSync(process.execPath, [resolve('out/node/blockscope.js'), 'checkpoint', ...words], {
    stdio: ['ignore', 'ignore', 'inherit']
  })
}

const bytes = weights * weightBytes
console.log(
  `${weights} weights of ${rows} x ${k} in bf16, ${(bytes / 1e6).toFixed(0)} MB, ${availableParallelism()} cores; MB/s of input`
)
console.log('format      rule    TypeScript   native   whole command')
for (const form of forms) {
  for (const rule of scaleRules) {
    const typescript = await best(2, () => reference(form, rule))
    const quantised = await native(form, rule)
    const { convention } = form
    const whole = convention
      ? await best(1, () =>
          command(
            ...['convert', source, '--to', findConvention(convention).name, '--requantise'],
            ...['--rule', rule, '--out', at('out')]
          )
        )
      : undefined
    console.log(
      form.title.padEnd(12) +
        rule.padEnd(8) +
        mb(2 ** 20, typescript).padStart(10) +
        mb(bytes, quantised).padStart(9) +
        (whole === undefined ? '-' : mb(bytes, whole)).padStart(16)
    )
  }
}
const nvfp4 = at('nvfp4.safetensors')
command('convert', source, '--to', 'modelopt-nvfp4', '--requantise', '--out', nvfp4)
const [from, layout] = [readFileSync(nvfp4).length, 'nvidia_32_4_4']
const same = await best(2, () =>
  command('convert', nvfp4, '--scale-layout', layout, '--out', at('out'))
)
console.log(`nvfp4 to another scale layout, whole command: ${mb(from, same)} MB/s`)
const copied = await best(2, () =>
  addon.copyBytes(
    {
      from: { path: source, position: 0 },
      to: { path: nvfp4, position: 0 },
      count: Math.min(from, bytes)
    },
    cancel
  )
)
console.log(`copy: ${mb(Math.min(from, bytes), copied)} MB/s`)
rmSync(folder, { recursive: true })
