/** A folder with the files that commands in README and docs name, made small, and `blockscope` on its path. */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openCheckpoint } from '../../src-main/store/checkpointFile'
import { findElementPacking, packElements } from '../../src-shared/layouts/elementPacking'
import { packScales } from '../../src-shared/layouts/layout'
import { findLayout } from '../../src-shared/layouts/registry'
import { calls, kernels, markers, ncuRaw, nvbenchFile } from './gpuToolFiles'
import { writeNvbenchGemm } from './nvbenchGemm'
import { startBlockscope } from './runBlockscope'
import { writeCheckpoint, type TensorBytes } from './writeCheckpoint'
import { writeGguf } from './writeGguf'
import { npyBytes, npzBytes, type Npy } from './writeNpy'

const program = resolve('out/node/blockscope.js')

export interface DocsFolder {
  path: string
  environment: NodeJS.ProcessEnv
  /** Id of an interrupted sweep: it can be shown and resumed. */
  runId: string
}

export async function makeDocsFolder(): Promise<DocsFolder> {
  const path = mkdtempSync(join(tmpdir(), 'docs-commands-'))
  const bin = join(path, '.bin')
  mkdirSync(bin)
  const command = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`
  writeFileSync(join(bin, 'blockscope'), command, { mode: 0o755 })
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: [bin, process.env.PATH].join(delimiter),
    XDG_DATA_HOME: join(path, '.data'),
    DISPLAY: '',
    WAYLAND_DISPLAY: '',
    ELECTRON_OVERRIDE_DIST_PATH: ''
  }
  const at = (name: string) => join(path, name)
  const blockscope = (...words: string[]) =>
    execFileSync(join(bin, 'blockscope'), words, { cwd: path, env: environment })

  for (const name of ['run', 'before', 'after', 'run.part_0', 'run.part_1'])
    writeFileSync(at(`${name}.hatchet`), JSON.stringify(profile()))

  // Saved runs, which pages name by their place in the repository.
  symlinkSync(resolve('docs'), at('docs'))
  writeProfilesOfOthers(at)
  writeFileSync(at('step.trace.json'), JSON.stringify(trace()))

  const model = {
    ...{ model_type: 'llama', hidden_size: 64, intermediate_size: 96, num_hidden_layers: 2 },
    num_attention_heads: 2
  }
  writeFileSync(at('config.json'), JSON.stringify(model))

  const linear = Uint8Array.from({ length: 256 * 8 }, (_, i) => 100 + ((i * 7919) % 53))
  writeFileSync(at('linear.bin'), linear)
  writeFileSync(at('fp4_codes.bin'), linear)
  writeOperands(at)
  const pack = (rows: number, columns: number, from: string, to: string) =>
    blockscope(
      ...['layout', 'pack', '--layout', 'nvidia_32_4_4', '--rows', `${rows}`],
      ...['--cols', `${columns}`, '--linear', from, '--out', to]
    )
  // For pages that name it without packing it first.
  pack(256, 8, 'linear.bin', 'packed.bin')
  pack(256, 16, 'operand_b_scales.bin', 'packed_b.bin')
  pack(128, 32, 'a_scales.bin', 'packed_a.bin')

  writeCheckpoint(at('model.safetensors'), gptOss('model.layers.0.mlp.experts.gate_up_proj'), {})
  writeIndex(at('model'), [
    'model.layers.0.mlp.experts.gate_up_proj_blocks',
    'model.layers.0.mlp.experts.gate_up_proj_scales'
  ])
  const fp4 = { shape: [32, 32], bytes: new Uint8Array(32 * 32).fill(0x21) }
  const scales = { shape: [32, 2], bytes: new Uint8Array(32 * 2).fill(120) }
  writeCheckpoint(at('unknown.safetensors'), [
    { name: 'layer.0.w_codes', dtype: 'U8', ...fp4 },
    { name: 'layer.0.w_scale', dtype: 'U8', ...scales }
  ])
  const blocks = Uint8Array.from({ length: 32 * 2 * 17 }, (_, i) => (i % 17 === 0 ? 120 : i & 255))
  writeGguf(at('model.gguf'), [{ name: 'a.weight', shape: [32, 64], type: 39, bytes: blocks }])
  writeCheckpoint(at('bf16.safetensors'), [bf16('layer.0.up.weight', [32, 64])], {})
  writeIndex(at('bf16'), ['layer.0.up.weight'])
  blockscope(
    ...['checkpoint', 'convert', 'bf16.safetensors', '--to', 'compressed-tensors-mxfp4'],
    ...['--requantise', '--out', 'mxfp4.safetensors']
  )
  return { path, environment, runId: await interruptedSweep(environment) }
}

/** Files of other profilers, by the names that docs/profiles.md gives them. */
function writeProfilesOfOthers(at: (name: string) => string): void {
  for (const rank of [0, 1])
    writeFileSync(at(`rank${rank}.json.gz`), gzipSync(JSON.stringify(rankTrace(rank))))
  copyFileSync('test/fixtures/databases/nsys-2025.sqlite', at('report.sqlite'))
  copyFileSync('test/fixtures/databases/rocpd-7.0.db', at('results.db'))
  writeFileSync(at('5_kernel_trace.csv'), kernels)
  writeFileSync(at('5_hip_api_trace.csv'), calls)
  writeFileSync(at('5_marker_api_trace.csv'), markers)
  writeFileSync(at('ncu.csv'), ncuRaw)
  for (const name of ['before', 'after'])
    writeFileSync(at(`nvbench-${name}.json`), JSON.stringify(nvbenchFile))
  writeNvbenchGemm(dirname(at('gemm.json')), [
    { tile: '128x64', k: 256, mean: 12e-6, samples: [11e-6, 12e-6, 13e-6] }
  ])
}

function rankTrace(rank: number): object {
  const event = (cat: string, name: string, tid: number, ts: number) => ({
    ...{ ph: 'X', cat, name, pid: cat === 'kernel' ? 0 : 42, tid, ts, dur: 8 },
    args: { correlation: 1 }
  })
  return {
    distributedInfo: { backend: 'nccl', rank, world_size: 2 },
    traceEvents: [event('cuda_runtime', 'cudaLaunchKernel', 1, 0), event('kernel', 'gemm', 7, 9)]
  }
}

/** Two formats at one K each, with work and times, on a device whose limits are known. */
function profile(): object[] {
  const kernel = (name: string, ns: number) => ({
    frame: { name, type: 'function' },
    metrics: {
      'time (ns)': ns,
      count: 4,
      bytes: 5e7,
      flops: 2e11,
      flops8: 2e11,
      device_id: '0',
      device_type: 'CUDA'
    },
    children: []
  })
  const scope = (name: string, children: object[]) => ({
    frame: { name, type: 'function' },
    metrics: {},
    children
  })
  const devices = JSON.parse(
    readFileSync('test/fixtures/proton/synthetic/modern_a.hatchet', 'utf8')
  ) as object[]
  return [
    scope('ROOT', [
      scope('K=4096', [kernel('mxfp4 wgmma', 120_000), kernel('nvfp4 wgmma', 150_000)]),
      kernel('matmul', 70_000),
      scope('step', [kernel('mxfp8 wgmma', 90_000)])
    ]),
    devices[1]!
  ]
}

/** A launch and what it launched, after which the device idles until the next. */
function trace(): object {
  const event = (name: string, cat: string, tid: number, ts: number, dur: number, more = {}) => ({
    ...{ ph: 'X', name, cat, ts, dur },
    ...{ pid: cat === 'kernel' ? 0 : 4121, tid, args: more }
  })
  return {
    schemaVersion: 1,
    traceEvents: [
      { ph: 'M', name: 'thread_name', pid: 0, tid: 7, args: { name: 'stream 7' } },
      event('step', 'user_annotation', 4121, 0, 4000),
      event('cudaLaunchKernel', 'cuda_runtime', 4121, 10, 3, { correlation: 1 }),
      event('mxfp4 matmul', 'kernel', 7, 20, 1500, { correlation: 1, grid: [132, 1, 1] }),
      event('cudaLaunchKernel', 'cuda_runtime', 4121, 2500, 3, { correlation: 2 }),
      event('silu', 'kernel', 7, 2510, 90, { correlation: 2, grid: [64, 1, 1] })
    ]
  }
}

/** Golden operands of two formats: as the file that --operands reads, and as one file for each matrix. */
function writeOperands(at: (name: string) => string): void {
  const golden = 'test/fixtures/golden'
  copyFileSync(`${golden}/gemm_mxfp4_128x256x512.safetensors`, at('operands.safetensors'))
  const sweep = [
    '--formats',
    'mxfp4',
    '--kernels',
    'cpu-portable',
    '-M',
    '16',
    '-N',
    '16',
    '-K',
    '64'
  ]
  const plan = {
    sweeps: [[...sweep, '--device', 'cpu', '--reps', '3', '--rounds', '1']],
    copies: 2
  }
  writeFileSync(at('plan.json'), JSON.stringify(plan))
  const dump = 'test/fixtures/check/05-nibbles-and-order.clean.safetensors'
  copyFileSync(dump, at('dump.safetensors'))
  mkdirSync(at('dumps'))
  copyFileSync(dump, at('dumps/dump.safetensors'))
  const mxfp4 = tensorsOf(`${golden}/gemm_mxfp4_128x256x512.safetensors`)
  const nvfp4 = tensorsOf(`${golden}/gemm_nvfp4_128x256x512.safetensors`)
  const codes = (name: string, bytes = nvfp4(`${name}_codes`)): Npy => ({
    ...{ descr: '|u1', shape: [bytes.length / 512, 256] },
    bytes: packElements(findElementPacking('fp4_high_first'), bytes)
  })
  const scales = (name: string, bytes = nvfp4(`${name}_scales`)): Npy => ({
    ...{ descr: '|u1', shape: [bytes.length / 32, 32], bytes }
  })
  const npz = { a: codes('a'), b: codes('b'), a_scale: scales('a'), b_scale: scales('b') }
  writeFileSync(at('operands.npz'), npzBytes(npz))
  writeFolderOfNpy(at('operands_npy'), mxfp4)
  const c = { name: 'c', dtype: 'F64', shape: [128, 256], bytes: mxfp4('c_f64') }
  writeCheckpoint(at('c.safetensors'), [c], {})
  writeFileSync(at('operand_b_scales.bin'), mxfp4('b_scales'))
  writeFileSync(at('a.bin'), nvfp4('a_codes'))
  writeFileSync(at('b.bin'), nvfp4('b_codes'))
  writeFileSync(at('a_scales.bin'), nvfp4('a_scales'))
  writeFileSync(at('b_scales.bin'), nvfp4('b_scales'))
  writeFileSync(at('c.bin'), nvfp4('c_f64'))
}

/** Packed fp4 and swizzled scales, flat as torchao's to_blocked leaves them. */
function writeFolderOfNpy(path: string, mxfp4: (name: string) => Uint8Array): void {
  mkdirSync(path)
  const layout = findLayout('nvidia_32_4_4')
  const write = (name: string, shape: number[], bytes: Uint8Array) =>
    writeFileSync(join(path, `${name}.npy`), npyBytes({ descr: '|u1', shape, bytes }))
  for (const name of ['a', 'b']) {
    const codes = packElements(findElementPacking('fp4_low_first'), mxfp4(`${name}_codes`))
    const rows = codes.length / 256
    write(name, [rows, 256], codes)
    const scales = packScales(layout, { rows, columns: 16 }, mxfp4(`${name}_scales`))
    write(`${name}_scales`, [scales.length], scales)
  }
}

function tensorsOf(path: string): (name: string) => Uint8Array {
  return (name) => {
    const file = openCheckpoint(path)
    const entry = file.tensors.get(name)!
    const bytes = file.read(entry, 0, entry.end - entry.start)
    file.close()
    return bytes
  }
}

function tensor(name: string, dtype: string, shape: number[], bytes: Uint8Array): TensorBytes {
  return { name, dtype, shape, bytes }
}

/** Four matrices of 8 x 64 values in MXFP4. */
function gptOss(name: string): TensorBytes[] {
  const blocks = Uint8Array.from({ length: 4 * 8 * 2 * 16 }, (_, i) => (i * 37) & 255)
  const scales = Uint8Array.from({ length: 4 * 8 * 2 }, (_, i) => 120 + (i % 11))
  return [
    tensor(`${name}_blocks`, 'U8', [4, 8, 2, 16], blocks),
    tensor(`${name}_scales`, 'U8', [4, 8, 2], scales)
  ]
}

function bf16(name: string, shape: [number, number]): TensorBytes {
  const floats = Float32Array.from({ length: shape[0] * shape[1] }, (_, i) => Math.sin(i * 12.9898))
  const halves = new Uint16Array(floats.buffer).filter((_, i) => i % 2 === 1)
  return tensor(name, 'BF16', shape, new Uint8Array(halves.buffer))
}

function writeIndex(path: string, names: string[]): void {
  const file = `${path.split('/').pop()}.safetensors`
  const index = { weight_map: Object.fromEntries(names.map((name) => [name, file])) }
  writeFileSync(`${path}.safetensors.index.json`, JSON.stringify(index))
}

async function interruptedSweep(environment: NodeJS.ProcessEnv): Promise<string> {
  const words =
    '--formats mxfp4 -M 64 -N 64 -K 64,128,192,256,320,384,448,512 --preset quick --kernels cpu-portable'
  const sweep = startBlockscope(['sweep', ...words.split(' ')], environment)
  await sweep.printed(/^mxfp4 .* passed /m)
  sweep.signal('SIGINT')
  const { stdout, stderr } = await sweep.done
  const id = /runs\/(\d{8}-\d{6}-\S+)/.exec(stdout + stderr)?.[1]
  if (id === undefined) throw new Error(`The sweep named no run folder:\n${stdout}${stderr}`)
  return id
}
