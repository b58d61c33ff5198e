import type { JobSpecInput } from '@shared/contract/jobs'

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

export const outputChoices: readonly { value: Output; title: string }[] = [
  { value: 'f16', title: 'float16' },
  { value: 'bf16', title: 'bfloat16' },
  { value: 'f32', title: 'float32' },
  { value: 'e4m3', title: 'e4m3' }
]
