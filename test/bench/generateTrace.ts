/** A trace as PyTorch's profiler writes it, of a mixture-of-experts model that decodes: any number of slices, always the same. */
import { closeSync, openSync, writeSync } from 'node:fs'

interface Kernel {
  name: string
  us: number
  stream: number
  grid: [number, number, number]
  category?: string
  bytes?: number
}

const compute = 7
const communication = 20
const copies = 22
const host = 4121

const kernel = (name: string, us: number, stream = compute, grid = 132): Kernel => ({
  ...{ name, us, stream },
  grid: [grid, 1, 1]
})

/** What one layer launches, by the scope that launches it. */
const layer: [scope: string, parts: [name: string, kernels: Kernel[]][]][] = [
  [
    'self_attn',
    [
      ['qkv_proj', [kernel('nvjet_hsh_128x64_64x9_1x2_h_bz_TNT', 14.2)]],
      [
        'attn',
        [
          kernel('rotary_embedding_kernel', 2.4, compute, 64),
          kernel(
            'void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::bfloat16_t>>(flash::Flash_fwd_params)',
            24.9
          )
        ]
      ],
      ['o_proj', [kernel('nvjet_hsh_64x64_64x13_2x1_v_bz_TNN', 8.1)]]
    ]
  ],
  [
    'mlp.experts',
    [
      [
        'router',
        [
          kernel('void at::native::elementwise_kernel<128, 4>(int, float)', 1.1, compute, 16),
          kernel('topk_gating_softmax', 3.0, compute, 32),
          kernel('moe_align_block_size_kernel', 3.1, compute, 8)
        ]
      ],
      [
        'gate_up',
        [
          kernel('widen', 5.9),
          kernel('block_scaled_matmul_kernel_mxfp4 [E=128, M=64, N=5760, K=2880]', 40.6)
        ]
      ],
      [
        'down',
        [
          kernel('silu_and_mul_kernel', 2.2, compute, 64),
          kernel('widen', 4.0),
          kernel('block_scaled_matmul_kernel_mxfp4 [E=128, M=64, N=2880, K=2880]', 21.0),
          kernel(
            'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)',
            5.6,
            communication,
            24
          )
        ]
      ]
    ]
  ]
]

class TraceWriter {
  private readonly file: number
  private text: string
  private separator = ''
  slices = 0

  constructor(path: string) {
    this.file = openSync(path, 'w')
    this.text =
      '{"schemaVersion":1,"displayTimeUnit":"ms","baseTimeNanoseconds":1760000000000000000,"traceEvents":[\n'
  }

  event(fields: string): void {
    this.text += `${this.separator}{${fields}}`
    this.separator = ',\n'
    if (this.text.length > 1 << 20) this.flush()
  }

  slice(cat: string, name: string, place: string, ts: number, dur: number, args = ''): void {
    this.slices++
    const times = `"ts":${ts.toFixed(3)},"dur":${dur.toFixed(3)}`
    this.event(
      `"ph":"X","cat":"${cat}","name":${JSON.stringify(name)},${place},${times}${args && `,"args":{${args}}`}`
    )
  }

  private flush(): void {
    writeSync(this.file, this.text)
    this.text = ''
  }

  end(): void {
    this.text += '\n]}\n'
    this.flush()
    closeSync(this.file)
  }
}

/** @returns how many slices were written: at least `slices`, to the end of a layer. */
export function generateTrace(path: string, slices: number): number {
  const trace = new TraceWriter(path)
  const named = (what: string, pid: string, tid: string, args: string) =>
    trace.event(`"ph":"M","name":"${what}","pid":${pid},"tid":${tid},"args":{${args}}`)
  named('process_name', `${host}`, '0', '"name":"python"')
  named('process_labels', `${host}`, '0', '"labels":"CPU"')
  named('thread_name', `${host}`, `${host}`, `"name":"thread ${host} (python)"`)
  named('process_name', '0', '0', '"name":"python"')
  named('process_labels', '0', '0', '"labels":"GPU 0"')
  for (const stream of [compute, communication, copies])
    named('thread_name', '0', `${stream}`, `"name":"stream ${stream}"`)
  const onHost = `"pid":${host},"tid":${host}`
  let random = 14
  const noise = () => {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0
    return random / 2 ** 32
  }
  let correlation = 0
  let hostUs = 10
  const freeUs = new Map<number, number>()
  const launch = ({ name, us, stream, grid, category = 'kernel', bytes }: Kernel) => {
    correlation++
    const callUs = 2.2 + noise()
    const call = category === 'kernel' ? 'cudaLaunchKernel' : 'cudaMemcpyAsync'
    trace.slice('cuda_runtime', call, onHost, hostUs, callUs, `"correlation":${correlation}`)
    const last = Math.max(freeUs.get(compute) ?? 0, freeUs.get(communication) ?? 0)
    const ready = stream === copies ? (freeUs.get(copies) ?? 0) : last
    const startUs = Math.max(hostUs + 5.5 + noise(), ready + 0.9 + noise() * 0.4)
    const durationUs = us * (0.94 + 0.12 * noise())
    const facts = `"device":0,"stream":${stream},"correlation":${correlation}`
    const more =
      category === 'kernel'
        ? `,"grid":[${grid.join(',')}],"block":[256,1,1],"registers per thread":${96 + grid[0]}`
        : `,"bytes":${bytes}`
    const place = `"pid":0,"tid":${stream}`
    trace.slice(category, name, place, startUs, durationUs, facts + more)
    freeUs.set(stream, startUs + durationUs)
    hostUs += callUs + 0.8
  }
  for (let step = 0; trace.slices < slices; step++) {
    const stepUs = hostUs
    const copy = { ...kernel('Memcpy HtoD (Pinned -> Device)', 41, copies), bytes: 8_400_000 }
    launch({ ...copy, category: 'gpu_memcpy' })
    for (let at = 0; at < 48 && trace.slices < slices; at++) {
      const layerUs = hostUs
      for (const [scope, parts] of layer) {
        const scopeUs = hostUs
        for (const [part, kernels] of parts) {
          const partUs = hostUs
          hostUs += 0.6
          // The host waits for the router's choice: this is the idle time that the picture is to show.
          if (part === 'gate_up') hostUs = Math.max(hostUs, freeUs.get(compute)! + 2)
          for (const one of kernels) launch(one)
          trace.slice('user_annotation', part, onHost, partUs, hostUs - partUs)
          hostUs += 0.4
        }
        trace.slice('user_annotation', scope, onHost, scopeUs, hostUs - scopeUs)
        hostUs += 0.4
      }
      trace.slice('user_annotation', `layers.${at}`, onHost, layerUs, hostUs - layerUs)
      // The queue is at most so deep.
      hostUs = Math.max(hostUs + 0.5, (freeUs.get(compute) ?? 0) - 60)
    }
    trace.slice('user_annotation', `decode_step ${step}`, onHost, stepUs, hostUs - stepUs)
    hostUs += 6
  }
  trace.end()
  return trace.slices
}
