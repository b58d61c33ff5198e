/** Peak rates of a device, from its own clock and unit counts: by class of instruction, and by proton-viewer's formulas. */

/** What peaks follow from; a profile's device element is one. */
export interface PeakDevice {
  type: string
  id: string
  /** '90', 'gfx950' */
  arch: string
  busWidthBits: number
  clockRateKHz: number
  memoryClockRateKHz: number
  multiprocessors: number
}

/** Bits of an operand that work is counted under. */
export type OperandWidth = 4 | 8 | 16 | 32 | 64

export interface Peak {
  /** FLOP/s or byte/s */
  value: number
  source: string
}

export type PeakOrReason = Peak | { reason: string }

/** Dense FLOP per multiprocessor (or compute unit) and clock, by class of instruction, without sparsity. */
type Rates = Partial<
  Record<'fp4' | 'fp6' | 'fp8' | 'int8' | 'bf16' | 'fp16' | 'fp32' | 'fp64', number>
>

interface PeakRow {
  arch: string
  rates: Rates
  /** Where the rates are from. */
  source: string
  /** proton-viewer 3.8.0's formula for FLOP/s at 8-bit operands, where it has one; other widths scale as 8 / W. */
  proton?: (device: PeakDevice) => number
}

const perClock = (rate: number) => (device: PeakDevice) =>
  device.multiprocessors * rate * device.clockRateKHz * 1000

const ampere: Rates = { int8: 4096, bf16: 2048, fp16: 2048, fp32: 128, fp64: 128 }
const blackwell: Rates = { fp4: 32768, fp8: 16384, bf16: 8192, fp16: 8192, fp32: 256 }
/**
 * With float32 sums; GeForce products reach half of bf16 and of fp8 without block scales. Of fp6 a GeForce alone was measured:
 * products where float32 sums are not halved may have twice that.
 */
const rtxBlackwell: Rates = {
  ...{ fp4: 4096, fp6: 1024, fp8: 2048, int8: 2048 },
  ...{ bf16: 1024, fp16: 1024, fp32: 256 }
}

export const peakTable: readonly PeakRow[] = [
  {
    arch: '80',
    rates: ampere,
    source: 'NVIDIA A100 whitepaper: 312 TFLOP/s bf16, 624 int8 on 108 SMs at 1410 MHz',
    proton: () => 624e12
  },
  {
    arch: '86',
    rates: { int8: 2048, bf16: 1024, fp16: 1024, fp32: 256 },
    source:
      'NVIDIA GA102 whitepaper: 512 fp16 FMA per SM and clock, int8 twice that; half with float32 sums on GeForce'
  },
  {
    arch: '89',
    rates: { fp8: 2048, int8: 2048, bf16: 1024, fp16: 1024, fp32: 256 },
    source:
      'NVIDIA L40S data sheet: 362 TFLOP/s bf16, 733 fp8 on 142 SMs; half with float32 sums on GeForce',
    proton: () => 330.3e12
  },
  {
    arch: '90',
    rates: { fp8: 8192, int8: 8192, bf16: 4096, fp16: 4096, fp32: 256, fp64: 256 },
    source: 'NVIDIA H100 whitepaper: 4096 bf16 and 8192 fp8 FLOP per SM and clock',
    proton: (device) => (device.multiprocessors / 114) * (device.clockRateKHz / 1_755_000) * 1513e12
  },
  {
    arch: '100',
    rates: blackwell,
    source:
      'NVIDIA B200 data sheet: 9 PFLOP/s fp4, 4.5 fp8, 2.25 bf16 (dense) on 148 SMs; NVIDIA/cudnn-frontend: 8192 bf16 FLOP per SM and clock',
    proton: perClock(16384)
  },
  {
    arch: '103',
    rates: { ...blackwell, fp4: 49152 },
    source:
      'NVIDIA GB300 NVL72 data sheet, as verda.com quotes it, of one of 72 GPUs: 15 PFLOP/s dense fp4, 5 fp8, 2.5 bf16 on 160 SMs'
  },
  {
    arch: '110',
    rates: blackwell,
    source:
      'NVIDIA Jetson AGX Thor data sheet: 2070 TFLOP/s fp4 with sparsity, 1035 dense, on 20 SMs at 1575 MHz'
  },
  {
    arch: '120',
    rates: rtxBlackwell,
    source:
      'NVIDIA RTX Blackwell whitepaper: 1676 TFLOP/s dense fp4 of the RTX 5090 (170 SMs at 2407 MHz); RTX PRO Blackwell whitepaper 1.1, table 4, as NVIDIA-NeMo/Automodel 3598 quotes it: 503.8 bf16 of the RTX PRO 6000 (188 SMs at 2617 MHz); NVIDIA/cudnn-frontend: 1024 bf16 FLOP per SM and clock; fp6 measured by mmapeak on an RTX 5090: 369.7 TFLOP/s in e3m2, 737.1 in mxfp8'
  },
  {
    arch: '121',
    rates: rtxBlackwell,
    source:
      'NVIDIA DGX Spark: 1 PFLOP/s fp4 with sparsity, 500 TFLOP/s dense, on 48 SMs; fp6 as on an RTX 5090, not verified'
  },
  {
    arch: 'gfx90a',
    rates: { int8: 1024, bf16: 1024, fp16: 1024, fp32: 256, fp64: 256 },
    source: 'AMD Instinct MI250X data sheet: 383 TFLOP/s bf16 on 220 CUs at 1700 MHz',
    proton: perClock(1024)
  },
  {
    arch: 'gfx942',
    rates: { fp8: 4096, int8: 4096, bf16: 2048, fp16: 2048, fp32: 256, fp64: 256 },
    source: 'AMD Instinct MI300X data sheet: 2615 TFLOP/s fp8, 1307 bf16 on 304 CUs at 2100 MHz',
    proton: perClock(4096)
  },
  {
    arch: 'gfx950',
    rates: {
      ...{ fp4: 16384, fp6: 16384, fp8: 8192, int8: 8192 },
      ...{ bf16: 4096, fp16: 4096, fp32: 256, fp64: 128 }
    },
    source:
      'AMD Instinct MI355X data sheet: 10.1 PFLOP/s MXFP4 and MXFP6, 5.0 fp8, 2.5 bf16 (dense) on 256 CUs at 2400 MHz; MI350X the same at 2200 (AMD at Hot Chips 2025, by wccftech.com); AMD at ISSCC 2026: 8192 fp8 FLOP per CU and clock. ROCm blog, Matrix Core Programming: fp6 and fp4 64 times fp32',
    proton: perClock(8192)
  }
]

/** Peak of a class of instruction ('bf16', 'fp8') at the device's own clock. */
export function peakOfInstruction(device: PeakDevice, name: string): PeakOrReason {
  const row = rowOf(device)
  if (!row) return unknown(device)
  // fp6 runs at the rate of fp8 where a row does not say otherwise.
  const rate = row.rates[name as keyof Rates] ?? (name === 'fp6' ? row.rates.fp8 : undefined)
  if (rate === undefined) return { reason: `${deviceName(device)} has no ${name} unit` }
  return positive(perClock(rate)(device), device, row.source)
}

/** Classes by the width that work is counted under; where a device lacks the first, the next. */
const classesOfWidth: Record<OperandWidth, (keyof Rates)[]> = {
  4: ['fp4'],
  8: ['fp8', 'int8'],
  16: ['bf16'],
  32: ['fp32'],
  64: ['fp64']
}

/** Peak at an operand width in bits; `proton`: by proton-viewer's formula, which knows fewer devices. */
export function peakFlops(device: PeakDevice, width: OperandWidth, proton = false): PeakOrReason {
  const row = rowOf(device)
  if (!row) return unknown(device)
  if (!proton) {
    const classes = classesOfWidth[width]
    const name = classes.find((candidate) => row.rates[candidate] !== undefined) ?? classes[0]!
    return peakOfInstruction(device, name)
  }
  if (!row.proton || width === 4) {
    return { reason: `proton-viewer has no ${width}-bit peak of ${deviceName(device)}` }
  }
  return positive((row.proton(device) * 8) / width, device, 'proton-viewer')
}

const rowOf = ({ arch }: PeakDevice) => peakTable.find((row) => row.arch === arch)

const unknown = ({ arch }: PeakDevice) => ({
  reason: `no peak rates are known for architecture '${arch}'`
})

const hipBandwidth: ReadonlyMap<string, number> = new Map([
  ['gfx90a', 3.2e12],
  ['gfx942', 5.3e12],
  ['gfx950', 8.0e12]
])

/** Peak of device memory. */
export function peakBandwidth(device: PeakDevice): PeakOrReason {
  const constant = hipBandwidth.get(device.arch)
  if (constant)
    return {
      value: constant,
      source: "AMD's data sheets (MI250X, MI300X, MI350 series), as in proton-viewer"
    }
  const value = (2 * device.busWidthBits * device.memoryClockRateKHz * 1000) / 8
  return positive(value, device, 'twice the memory clock times the bus width')
}

function positive(value: number, device: PeakDevice, source: string): PeakOrReason {
  if (value > 0) return { value, source }
  return { reason: `the profile has no clock or unit count for device ${device.type} ${device.id}` }
}

function deviceName(device: PeakDevice): string {
  return device.arch.startsWith('gfx') ? device.arch : `sm_${device.arch}`
}
