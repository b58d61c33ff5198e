/**
 * A Kineto trace of a given size, of the shape of a real training job's: steps of Python calls, operators, launches and
 * kernels with their arguments, copies, flows, two streams. The same size gives the same file.
 */
import { closeSync, openSync, writeSync } from 'node:fs'

const layers = 48
/** Steps repeat their layers for each of their batches, as gradient accumulation does. */
const batchesPerStep = 32
const operators = [
  ['aten::linear', 'aten::addmm', 'nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNN'],
  [
    'aten::scaled_dot_product_attention',
    'aten::_flash_attention_forward',
    'void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>, false, true>(pytorch_flash::Flash_fwd_params)'
  ],
  [
    'aten::gelu',
    'aten::gelu',
    'void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int)'
  ],
  [
    'aten::layer_norm',
    'aten::native_layer_norm',
    'void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)'
  ]
] as const

/** @returns the number of kernels and the sum of their durations in ns */
export function generateKineto(path: string, bytes: number): { kernels: number; kernelNs: number } {
  const file = openSync(path, 'w')
  let out =
    '{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "computeMajor": 9}],\n  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": 1759996800000000000,\n  "traceEvents": [\n'
  let written = 0
  let separator = ''
  let kernels = 0
  let kernelNs = 0
  let id = 1
  const event = (text: string) => {
    out += separator + text
    separator = ',\n'
    if (out.length < 1 << 20) return
    written += writeSync(file, out)
    out = ''
  }
  const complete = (
    cat: string,
    name: string,
    pid: number,
    tid: number,
    ns: number,
    dur: number,
    args: string
  ) =>
    event(
      `  {\n    "ph": "X", "cat": "${cat}", "name": "${name}", "pid": ${pid}, "tid": ${tid},\n    "ts": ${us(ns)}, "dur": ${us(dur)},\n    "args": {\n      ${args}\n    }\n  }`
    )
  for (let step = 0, now = 4_567_890_123_000; written < bytes; step++) {
    const stepStart = now
    for (let call = 0; call < layers * batchesPerStep && written < bytes; call++) {
      const layer = call % layers
      const layerStart = now
      for (const [at, [outer, inner, kernel]] of operators.entries()) {
        const start = now
        const launch = start + 6_000
        const duration = 20_000 + ((step * 7919 + layer * 104729 + at * 1299709) % 90_000)
        complete(
          'cpu_op',
          outer,
          4121,
          4121,
          start,
          30_000,
          `"External id": ${id},"Record function id": 0, "Sequence number": ${id}, "Fwd thread id": 0, "Ev Idx": ${id}`
        )
        complete(
          'cpu_op',
          inner,
          4121,
          4121,
          start + 2_000,
          26_000,
          `"External id": ${id + 1},"Record function id": 0, "Concrete Inputs": ["", "", ""], "Input type": ["c10::BFloat16", "c10::BFloat16", ""], "Input Strides": [[8192, 1], [1, 8192], []], "Input Dims": [[4096, 8192], [8192, 8192], []], "Ev Idx": ${id + 1}`
        )
        complete(
          'cuda_runtime',
          'cudaLaunchKernelExC',
          4121,
          4121,
          launch,
          8_000,
          `"External id": ${id + 1}, "cbid": 430, "correlation": ${id}`
        )
        event(
          `  {\n    "ph": "s", "id": ${id}, "pid": 4121, "tid": 4121, "ts": ${us(launch)},\n    "cat": "ac2g", "name": "ac2g"\n  }`
        )
        complete(
          'kernel',
          kernel,
          0,
          7 + (at & 1),
          launch + 15_000,
          duration,
          `"External id": ${id + 1},\n      "queued": 0, "device": 0, "context": 1,\n      "stream": ${7 + (at & 1)}, "correlation": ${id},\n      "registers per thread": 168,\n      "shared memory": 213232,\n      "blocks per SM": 1.0, "warps per SM": 12.0,\n      "grid": [132, 1, 1],\n      "block": [384, 1, 1],\n      "est. achieved occupancy %": 18`
        )
        event(
          `  {\n    "ph": "f", "id": ${id}, "pid": 0, "tid": ${7 + (at & 1)}, "ts": ${us(launch + 15_000)},\n    "cat": "ac2g", "name": "ac2g", "bp": "e"\n  }`
        )
        kernels++
        kernelNs += duration
        id += 2
        now += 40_000
      }
      complete(
        'python_function',
        `model.py(${100 + layer}): forward`,
        4121,
        4121,
        layerStart - 500,
        now - layerStart,
        `"Python id": ${id}, "Python parent id": 1, "Ev Idx": ${id}`
      )
    }
    complete(
      'user_annotation',
      `ProfilerStep#${step}`,
      4121,
      4121,
      stepStart - 1_000,
      now - stepStart,
      `"External id": ${id}, "Ev Idx": ${id}`
    )
    now += 100_000
  }
  writeSync(file, `${out}\n  ],\n  "traceName": "trace.json"\n}\n`)
  closeSync(file)
  return { kernels, kernelNs }
}

/** As Kineto writes times: microseconds with three decimals. */
function us(ns: number): string {
  return (ns / 1000).toFixed(3)
}
