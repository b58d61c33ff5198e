import { computed, toRaw } from 'vue'
import { defaults } from '@shared/contract/defaults'
import { problemOfShapes, type JobSpecInput, type SweepSpec } from '@shared/contract/jobs'
import { pairFormats } from '@shared/formats/blockFormat'
import { parseShapeText } from '@shared/shapeText'
import { extentList, problemsOf, wholeNumber, type Checked } from '../../ground/fields'
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
  noModel,
  shapesFormOf,
  type ShapesForm
} from '../../ground/shapesForm'
import { useSavedForm } from '../../stores/savedForm'

type SweepInput = Extract<JobSpecInput, { kind: 'sweep' }>

export type SweepForm = {
  formats: string[]
  /** Empty: every kernel that can. */
  kernels: string[]
  /** One or several; empty: what is usual for the device. */
  m: string
  n: string
  kValues: string
  mode: NonNullable<SweepInput['mode']>
  preset: NonNullable<SweepInput['preset']>
  reps: string
  rounds: string
  sustained: boolean
  seed: string
  distribution: NonNullable<SweepInput['distribution']>
  output: NonNullable<SweepInput['output']>
  /** Formats beside those chosen: pairs of elements without a short name. */
  pairs: string
} & OperationForm &
  ShapesForm

const initial: SweepForm = {
  formats: [...defaults.formats],
  kernels: [],
  m: '',
  n: '',
  kValues: '512..4096 step 512',
  mode: defaults.mode,
  preset: defaults.preset,
  reps: '',
  rounds: '',
  sustained: false,
  seed: String(defaults.seed),
  distribution: defaults.distribution,
  output: defaults.output,
  pairs: '',
  ...initialOperation,
  ...initialShapes
}

/** Both operands of these elements. */
const formatsOfClass: Readonly<Record<string, readonly string[]>> = {
  fp4: ['mxfp4', 'nvfp4'],
  fp8: ['mxfp8']
}

const isPair = (id: string) => pairFormats.some((format) => format.id === id)

export function useSweepForm() {
  const form = useSavedForm('sweep', initial)
  const operation = computed(() =>
    checkOperation(form, form.output, saysRows(form.m, hasModel(form)))
  )
  const shapes = computed(() => checkShapes(form))
  const extents = computed(() => {
    if (hasModel(form)) return { m: {}, n: {}, kValues: {} }
    const [m, n] = [extentList(form.m, 'M', true), extentList(form.n, 'N', true)]
    const kValues = extentList(form.kValues, 'K')
    const problem = problemOfShapes({
      mValues: m.value ?? [],
      nValues: n.value ?? [],
      kValues: kValues.value ?? []
    })
    return { m, n, kValues: problem ? { problem } : kValues }
  })
  const fields = computed(() => ({
    ...operation.value.fields,
    pairs: formatNames(form.pairs),
    formats:
      form.formats.length === 0 && form.pairs.trim() === ''
        ? { problem: 'Choose at least one format.' }
        : {},
    ...extents.value,
    ...shapes.value.fields,
    reps: wholeNumber(form.reps, 'Samples', { min: 1, max: 1_000_000, optional: true }),
    rounds: wholeNumber(form.rounds, 'Rounds', { min: 1, max: 20, optional: true }),
    seed: wholeNumber(form.seed, 'The seed', { min: 0, max: 2 ** 53 - 1 })
  }))
  const problems = computed(() => problemsOf(fields.value))

  /** undefined while a field is wrong. */
  function spec(device: string): SweepInput | undefined {
    const { reps, rounds, seed, pairs } = fields.value
    const { m, n, kValues }: Record<'m' | 'n' | 'kValues', Checked<number[]>> = extents.value
    const { shapes: made } = shapes.value
    if (Object.keys(problems.value).length > 0 || !(made ?? kValues.value)) return undefined
    return {
      kind: 'sweep',
      device,
      formats: [...new Set([...form.formats, ...(pairs.value ?? [])])],
      kernels: [...form.kernels],
      mValues: m.value ?? [],
      nValues: n.value ?? [],
      kValues: kValues.value ?? [],
      ...(made && { shapes: toRaw(made) }),
      mode: form.mode,
      preset: form.preset,
      ...(reps.value !== undefined && { reps: reps.value }),
      ...(rounds.value !== undefined && { rounds: rounds.value }),
      sustained: form.sustained,
      ...(seed.value !== undefined && { seed: seed.value }),
      distribution: form.distribution,
      output: form.output,
      ...operation.value.operation
    }
  }

  /** Fills the form with what a run was asked; the device stays the one that is chosen. */
  function take(asked: SweepSpec): void {
    Object.assign(form, {
      formats: asked.formats.filter((id) => !isPair(id)),
      kernels: [...asked.kernels],
      m: asked.mValues.join(', '),
      n: asked.nValues.join(', '),
      kValues: asked.kValues.join(', '),
      mode: asked.mode,
      preset: asked.preset,
      reps: String(asked.reps ?? ''),
      rounds: String(asked.rounds ?? ''),
      sustained: asked.sustained,
      seed: String(asked.seed),
      distribution: asked.distribution,
      output: asked.output,
      pairs: asked.formats.filter(isPair).join(', '),
      ...operationFormOf(asked),
      ...shapesFormOf(asked.shapes)
    } satisfies SweepForm)
  }

  /**
   * One product, '4096x4096x7168' or with what it multiplies in behind it, '@fp8', instead of what the form had: by the formats of
   * that class, where one is block-scaled, and by every kernel that can, peers too. The rest stays. False where `text` is none.
   */
  function takeShape(text: string): boolean {
    const [extents = '', instruction = ''] = text.split('@')
    const shape = parseShapeText(extents)
    if (!shape) return false
    const { m, n, k } = shape
    const formats = formatsOfClass[instruction]
    Object.assign(form, {
      ...(formats && { formats: [...formats], pairs: '' }),
      kernels: [],
      ...{ m: String(m), n: String(n), kValues: String(k), model: noModel, groups: '' }
    } satisfies Partial<SweepForm>)
    return true
  }

  return { form, problems, spec, take, takeShape }
}
