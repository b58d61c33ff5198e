import { withExponent } from '@shared/units'
import { computed, toRaw } from 'vue'
import { defaults } from '@shared/contract/defaults'
import type { ValidateSpec, ValidateSpecInput } from '@shared/contract/jobs'
import { extent, nonNegative, problemsOf, wholeNumber, type Checked } from '../../ground/fields'
import {
  checkOperation,
  formatNames,
  initialOperation,
  operationFormOf,
  saysRows,
  type OperationForm
} from '../../ground/operationForm'
import {
  checkShapes,
  hasModel,
  initialShapes,
  shapesFormOf,
  type ShapesForm
} from '../../ground/shapesForm'
import { differs, useSavedForm } from '../../stores/savedForm'

export type ValidateForm = {
  m: string
  n: string
  k: string
  seed: string
  distribution: NonNullable<ValidateSpecInput['distribution']>
  output: NonNullable<ValidateSpecInput['output']>
  atol: string
  rtol: string
  rule: NonNullable<ValidateSpecInput['rule']>
  /** Empty: all with a short name. */
  formats: string
  /** Empty: every kernel that can. */
  kernels: string[]
} & OperationForm &
  ShapesForm

const initial: ValidateForm = {
  m: '',
  n: '',
  k: '',
  seed: String(defaults.seed),
  distribution: defaults.distribution,
  output: defaults.output,
  atol: withExponent(defaults.atol),
  rtol: withExponent(defaults.rtol),
  rule: defaults.rule,
  formats: '',
  kernels: [],
  ...initialOperation,
  ...initialShapes
}

export function useValidateForm() {
  const form = useSavedForm('validate', initial)
  const operation = computed(() =>
    checkOperation(form, form.output, saysRows(form.m, hasModel(form)))
  )
  const shapes = computed(() => checkShapes(form))
  const extents = computed((): Record<'m' | 'n' | 'k', Checked<number>> =>
    hasModel(form)
      ? { m: {}, n: {}, k: {} }
      : { m: extent(form.m, 'M'), n: extent(form.n, 'N'), k: extent(form.k, 'K') }
  )
  const fields = computed(() => ({
    ...shapes.value.fields,
    ...operation.value.fields,
    formats: formatNames(form.formats),
    ...extents.value,
    seed: wholeNumber(form.seed, 'The seed', { min: 0, max: 2 ** 53 - 1 }),
    atol: nonNegative(form.atol, 'The absolute tolerance'),
    rtol: nonNegative(form.rtol, 'The relative tolerance')
  }))
  const problems = computed(() => problemsOf(fields.value))
  const changed = computed(() => differs(form, initial))

  function spec(device: string): ValidateSpecInput {
    const { m, n, k, seed, atol, rtol, formats } = fields.value
    const { shapes: made } = shapes.value
    return {
      kind: 'validate',
      device,
      formats: formats.value?.length ? formats.value : ['all'],
      kernels: [...form.kernels],
      ...(m.value !== undefined && { m: m.value }),
      ...(n.value !== undefined && { n: n.value }),
      ...(k.value !== undefined && { k: k.value }),
      ...(made && { shapes: toRaw(made) }),
      ...(seed.value !== undefined && { seed: seed.value }),
      distribution: form.distribution,
      output: form.output,
      ...(atol.value !== undefined && { atol: atol.value }),
      ...(rtol.value !== undefined && { rtol: rtol.value }),
      rule: form.rule,
      ...operation.value.operation
    }
  }

  /** Of operands that come as files, which bring the rest: how they are judged. */
  function specOfFiles(device: string): ValidateSpecInput {
    const { atol, rtol, rule, outputScale } = spec(device)
    const formats = [...defaults.formats]
    return {
      kind: 'validate',
      device,
      formats,
      // Only a type of eight bits has a scale; the type of a C is its file's.
      output: outputScale === 1 ? defaults.outputOfFiles : form.output,
      atol,
      rtol,
      rule,
      outputScale
    }
  }

  /** Fills the form with what a run was asked; the device is chosen beside it. */
  function take(asked: ValidateSpec): void {
    Object.assign(form, {
      m: String(asked.m ?? ''),
      n: String(asked.n ?? ''),
      k: String(asked.k ?? ''),
      seed: String(asked.seed),
      distribution: asked.distribution,
      output: asked.output,
      atol: withExponent(asked.atol),
      rtol: withExponent(asked.rtol),
      rule: asked.rule,
      formats: asked.formats.includes('all') ? '' : asked.formats.join(', '),
      kernels: [...asked.kernels],
      ...operationFormOf(asked),
      ...shapesFormOf(asked.shapes)
    } satisfies ValidateForm)
  }

  function reset(): void {
    Object.assign(form, initial)
  }

  return { form, problems, changed, spec, specOfFiles, take, reset }
}
