/** Importing PyTorch and Triton takes seconds: a job that names other kernels need not wait for it. */
import { autoKernel, type Detection, type Device } from '@shared/contract/devices'
import type { JobSpec } from '@shared/contract/jobs'
import { isSettled } from '@shared/choice/choose'
import type { MachineMemory } from '../store/machineMemory'
import { problemOf } from './estimate'
import { planJob } from './plan'

type Asked = Pick<JobSpec, 'device' | 'kernels' | 'providers'>

const includesAll = (known: readonly string[], names: readonly string[]) => {
  const all = new Set(known.map((name) => name.toLowerCase()))
  return names.length > 0 && names.every((name) => all.has(name.toLowerCase()))
}

export const namesAuto = ({ kernels }: Pick<JobSpec, 'kernels'>): boolean =>
  kernels.some((name) => name.toLowerCase() === autoKernel)

/** Whether what a job asks for can be without Triton at all: it names kernels or providers, or the CPU. */
export const mayDoWithout = ({ device, kernels, providers }: Asked): boolean =>
  device === 'cpu' || providers.length > 0 || (kernels.length > 0 && !namesAuto({ kernels }))

/** Whether all that it names is among the kernels that were found without Triton. */
export function doesWithout(spec: Asked, found: readonly Device[]): boolean {
  const { device, kernels, providers } = spec
  if (!mayDoWithout(spec)) return false
  if (device === 'cpu') return true
  const own = found.flatMap((one) => one.kernels)
  if (providers.length > 0)
    return includesAll(
      own.map(({ provider }) => provider),
      providers
    )
  return includesAll(
    own.map(({ id }) => id),
    kernels
  )
}

/** Whether what `auto` stands for is the same without Triton's kernels in every problem of a job, and what else it names is there. */
export async function isSettledWithout(
  spec: JobSpec,
  found: Detection,
  memory: MachineMemory
): Promise<boolean> {
  if ('operandsFiles' in spec && spec.operandsFiles) return false
  // What cannot be planned is told with all that there is.
  const plan = await planJob(spec, found, memory).catch(() => undefined)
  if (!plan || plan.device.kind === 'cpu') return false
  const settled = plan.steps.filter(({ choice }) => choice && isSettled(choice)).map(problemOf)
  return plan.steps.map(problemOf).every((problem) => settled.includes(problem))
}
