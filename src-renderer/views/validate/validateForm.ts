import { computed } from 'vue'
import type { JobSpecInput } from '@shared/contract/jobs'
import { extent, nonNegative, problemsOf, wholeNumber } from '../../app/fields'
import { useSavedForm } from '../../app/savedForm'

type ValidateInput = Extract<JobSpecInput, { kind: 'validate' }>

export type ValidateForm = {
  m: string
  n: string
  k: string
  seed: string
  distribution: NonNullable<ValidateInput['distribution']>
  output: NonNullable<ValidateInput['output']>
  atol: string
  rtol: string
}

const defaults: ValidateForm = {
  m: '',
  n: '',
  k: '',
  seed: '42',
  distribution: 'normal',
  output: 'f16',
  atol: '1e-3',
  rtol: '1e-3'
}

export function useValidateForm() {
  const form = useSavedForm('validate', defaults)
  const fields = computed(() => ({
    m: extent(form.m, 'M'),
    n: extent(form.n, 'N'),
    k: extent(form.k, 'K'),
    seed: wholeNumber(form.seed, 'The seed', { min: 0, max: 2 ** 53 - 1 }),
    atol: nonNegative(form.atol, 'The absolute tolerance'),
    rtol: nonNegative(form.rtol, 'The relative tolerance')
  }))
  const problems = computed(() => problemsOf(fields.value))
  const changed = computed(() =>
    (Object.keys(defaults) as (keyof ValidateForm)[]).some((key) => form[key] !== defaults[key])
  )

  function spec(device: string, formats: string[]): ValidateInput {
    const { m, n, k, seed, atol, rtol } = fields.value
    return {
      kind: 'validate',
      device,
      formats,
      ...(m.value !== undefined && { m: m.value }),
      ...(n.value !== undefined && { n: n.value }),
      ...(k.value !== undefined && { k: k.value }),
      seed: seed.value ?? 42,
      distribution: form.distribution,
      output: form.output,
      atol: atol.value ?? 1e-3,
      rtol: rtol.value ?? 1e-3
    }
  }

  function reset(): void {
    Object.assign(form, defaults)
  }

  return { form, problems, changed, spec, reset }
}
