/** A run's run.json to the tree of its recorded launches. */
import { UserError } from '../errors'
import { isObject, listOf, numberOr, parseJson, property, stringOr } from './jsonValue'
import type { LaunchRecord, OperandWidth } from './launchRecord'
import { fromLaunchRecords } from './fromLaunchRecords'
import type { ProfileDevice, ProfileTree } from './profileTree'
import { demangle } from './demangle'

export function readRun(bytes: Uint8Array, fileName: string): ProfileTree {
  const run = parseJson(bytes, fileName)
  const steps = property(run, 'steps')
  if (!Array.isArray(steps)) {
    throw new UserError('usage', `${fileName}: expected a run with a list "steps".`)
  }
  const device = deviceOf(property(run, 'device'))
  const records = steps.flatMap((step) => launchesOf(run, step, device))
  const tree = fromLaunchRecords(records, device.arch === '' ? [] : [device])
  tree.format = 'run'
  if (records.length === 0) tree.warnings.push('The run has no measured launches.')
  return tree
}

/** Each recorded launch of a step's operation; amounts of work go to its longest launch, the kernel itself. */
function launchesOf(run: unknown, step: unknown, device: ProfileDevice): LaunchRecord[] {
  const measurement = property(step, 'measurement')
  const launches = listOf(property(measurement, 'launches')).filter(isObject)
  const duration = (launch: unknown) =>
    numberOr(property(launch, 'endNs'), 0) - numberOr(property(launch, 'startNs'), 0)
  const longest = launches.reduce<unknown>(
    (best, launch) => (best === null || duration(launch) > duration(best) ? launch : best),
    null
  )
  const format = stringOr(property(step, 'format'), 'unknown')
  const [m, n, k] = ['m', 'n', 'k'].map((key) => numberOr(property(step, key), 0))
  const flops = numberOr(property(measurement, 'flops'), 0)
  return launches.map((launch) => {
    const raw = stringOr(property(launch, 'name'), stringOr(property(step, 'kernel'), 'kernel'))
    const isKernel = launch === longest
    const suffix = ` [M=${m}, N=${n}, K=${k}]`
    return {
      run: stringOr(property(run, 'id'), ''),
      step: numberOr(property(step, 'index'), 0),
      scopePath: [stringOr(property(run, 'kind'), 'run'), format, `K=${k}`],
      kernel: {
        raw,
        demangled: demangle(raw),
        label: isKernel ? `${stringOr(property(step, 'kernel'), raw)}${suffix}` : undefined
      },
      provider: stringOr(property(step, 'provider'), ''),
      device: { type: device.type, id: device.id },
      stream: numberOr(property(launch, 'stream'), 0),
      startNs: numberOr(property(launch, 'startNs'), 0),
      endNs: numberOr(property(launch, 'endNs'), 0),
      grid: triple(property(launch, 'grid')),
      block: triple(property(launch, 'block')),
      registersPerThread: numberOr(property(launch, 'registersPerThread'), 0),
      sharedMemoryBytes: numberOr(property(launch, 'sharedMemoryBytes'), 0),
      flopsByWidth: isKernel && flops > 0 ? { [operandWidth(step, format)]: flops } : {},
      bytes: isKernel ? numberOr(property(measurement, 'bytes'), 0) : 0
    }
  })
}

/** Bits of the wider operand: 4 for fp4 x fp4, 16 for baselines that dequantise, else 8. */
function operandWidth(step: unknown, format: string): OperandWidth {
  if (property(step, 'baseline') === true) return 16
  return /^(nvfp4|mxfp4)/.test(format) ? 4 : 8
}

function deviceOf(device: unknown): ProfileDevice {
  const properties = property(device, 'properties')
  const number = (key: string) => numberOr(property(properties, key), 0)
  const [type, id] = stringOr(property(device, 'id'), 'cpu').split(':')
  return {
    type: (type ?? 'cpu').toUpperCase(),
    id: id ?? '0',
    arch: stringOr(property(device, 'architecture'), '').replace(/^sm_(\d+)[af]?$/, '$1'),
    busWidthBits: number('memoryBusBits'),
    clockRateKHz: number('clockMHz') * 1000,
    memoryClockRateKHz: number('memoryClockMHz') * 1000,
    multiprocessors: number('smCount') || number('cores')
  }
}

function triple(value: unknown): [number, number, number] {
  const list = listOf(value)
  return [numberOr(list[0], 1), numberOr(list[1], 1), numberOr(list[2], 1)]
}
