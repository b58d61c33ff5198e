import type { Device } from '@shared/contract/devices'
import type { JobSpecInput } from '@shared/contract/jobs'
import type { BOrder } from '@shared/contract/operation'

type Distribution = NonNullable<JobSpecInput['distribution']>
type Output = NonNullable<JobSpecInput['output']>

export const distributionChoices: readonly { value: Distribution; title: string }[] = [
  { value: 'normal', title: 'Normal N(0,1), quantised' },
  { value: 'positive', title: 'Positive |N(0,1)|: nothing cancels' },
  { value: 'wide-scales', title: 'Wide scales: over 13 binades' },
  { value: 'tutorial', title: 'As the Triton tutorial' },
  { value: 'uniform-codes', title: 'Uniform codes' },
  { value: 'adversarial', title: 'Adversarial' },
  { value: 'zeros', title: 'Zeros (power-optimistic)' }
]

const everyOutput: readonly { value: Output; title: string }[] = [
  { value: 'f16', title: 'float16' },
  { value: 'bf16', title: 'bfloat16' },
  { value: 'f32', title: 'float32' },
  { value: 'e4m3', title: 'e4m3' },
  { value: 'e5m2', title: 'e5m2' }
]

/** The types of C that some kernel of the device writes. */
export function outputChoicesOf(device: Device | undefined) {
  const written = new Set(device?.kernels.flatMap(({ outputs }) => outputs))
  return everyOutput.filter(({ value }) => written.size === 0 || written.has(value))
}

export const bOrderChoices: readonly { value: BOrder; title: string }[] = [
  { value: 'nk', title: '(N, K)' },
  { value: 'kn', title: '(K, N)' }
]

type Rule = NonNullable<Extract<JobSpecInput, { kind: 'validate' }>['rule']>

export const ruleChoices: readonly { value: Rule; title: string }[] = [
  { value: 'allowances', title: 'Tolerance or allowances' },
  { value: 'assert-close', title: 'Tolerance alone (assert_close)' }
]
