/** Importing PyTorch and Triton takes seconds: a job that names other kernels need not wait for it. */
import { autoKernel, type Device } from '@shared/contract/devices'
import type { JobSpec } from '@shared/contract/jobs'

type Asked = Pick<JobSpec, 'device' | 'kernels' | 'providers'>

const includesAll = (known: readonly string[], names: readonly string[]) => {
  const all = new Set(known.map((name) => name.toLowerCase()))
  return names.length > 0 && names.every((name) => all.has(name.toLowerCase()))
}

/** Whether what a job asks for can be without Triton at all: it names kernels or providers, or the CPU. */
export const mayDoWithout = ({ device, kernels, providers }: Asked): boolean =>
  device === 'cpu' ||
  providers.length > 0 ||
  (kernels.length > 0 && !kernels.some((name) => name.toLowerCase() === autoKernel))

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
