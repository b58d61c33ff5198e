/**
 * A .hatchet profile of a given size, of the shape of a real model's: steps > layers > operators > kernels, C++ and
 * Triton names, two devices, FLOP and bytes. Compact, as Proton's periodic flush writes it; the same seed gives the same file.
 */
import { closeSync, openSync, writeSync } from 'node:fs'

const kernelsPerOperator = 6
const operatorsPerLayer = 8
const layersPerStep = 32

export function generateProfile(path: string, nodes: number, seed = 1): void {
  const file = openSync(path, 'w')
  const random = generator(seed)
  const stack: { name: string; children: number }[] = []
  let out = '['
  let written = 0
  const open = (name: string) => {
    const above = stack[stack.length - 1]
    if (above && above.children++ > 0) out += ','
    out += '{"children":['
    stack.push({ name, children: 0 })
    written++
  }
  const close = (metrics: string[]) => {
    const { name } = stack.pop()!
    out += `],"frame":{"name":${JSON.stringify(name)},"type":"function"},"metrics":{${metrics.join(',')}}}`
    if (out.length < 1 << 20) return
    writeSync(file, out)
    out = ''
  }
  open('ROOT')
  for (let step = 0; written < nodes; step++) {
    open(`step ${step}`)
    for (let layer = 0; layer < layersPerStep && written < nodes; layer++) {
      open(`layer ${layer}`)
      for (let operator = 0; operator < operatorsPerLayer && written < nodes; operator++) {
        open(`/opt/model/blocks.py:${100 + operator * 7}@operator_${operator}`)
        for (let kernel = 0; kernel < kernelsPerOperator && written < nodes; kernel++) {
          open(kernelName(operator, kernel))
          close(kernelMetrics(random))
        }
        close([])
      }
      close([`"cpu_time (ns)":${1000 + Math.floor(random() * 1e6)}`])
    }
    close([])
  }
  close(['"count":0', '"time (ns)":0'])
  const device =
    '{"arch":"100","bus_width":8192,"clock_rate":1965000,"memory_clock_rate":3996000,"num_sms":148}'
  writeSync(file, `${out},{"CUDA":{"0":${device},"1":${device}}}]`)
  closeSync(file)
}

function kernelName(operator: number, kernel: number): string {
  return kernel % 2 === 0
    ? `matmul_mxfp4_${operator} [M=8192, N=8192, K=${1024 * (kernel + 1)}]`
    : `_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalILi${operator * 16 + kernel}EEEEEvNT_6ParamsE`
}

function kernelMetrics(random: () => number): string[] {
  const ns = 10_000 + Math.floor(random() * 1e6)
  return [
    `"bytes":${ns * 3000}`,
    `"count":${1 + Math.floor(random() * 20)}`,
    `"device_id":"${random() < 0.5 ? 0 : 1}"`,
    '"device_type":"CUDA"',
    `"flops8":${ns * 2_000_000}.0`,
    `"time (ns)":${ns}`
  ]
}

/** A linear congruential generator (Numerical Recipes), 0..1. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
