/**
 * The values that the Formats view looks at, for its tabs alike: drawn, pasted, or rows of a tensor. They stay for as long as
 * the page.
 */
import { defineStore } from 'pinia'
import { computed, reactive, ref, shallowRef, watch } from 'vue'
import { messageOf } from '@shared/errors'
import { distributions, drawValues, type Distribution } from '@shared/formats/compare'
import type { TensorSample } from '@shared/formats/floatTensor'
import { scaleRules, type ScaleRule } from '@shared/formats/quantize'
import { wholeNumber } from '../../ground/fields'
import { useLatest } from '../../ground/latest'
import {
  openTensors,
  parseNumbers,
  readSample,
  weightByHand,
  type NamedByHand,
  type OpenedTensors,
  type ValueSource
} from './ownValues'

/** As many as the engine draws: 64 rows of 256. */
const drawnCount = 16_384
const mostSeed = 1_000_000

export const valueSources = [
  ...distributions.map((name) => ({ value: name, title: `${name} distribution` })),
  { value: 'pasted' as const, title: 'pasted numbers' },
  { value: 'tensor' as const, title: 'tensor of a checkpoint' }
]
export const ruleChoices = scaleRules.map((name) => ({ value: name, title: name }))

/** Of tensors: two that a person names as codes and scales. */
export const byHand = ' named by hand'
const nothingNamed = (): NamedByHand => ({
  codes: '',
  scales: '',
  format: '',
  order: '',
  layout: ''
})

export const useFormatValues = defineStore('formatValues', () => {
  const source = ref<Distribution | 'pasted' | 'tensor'>('normal')
  const rule = ref<ScaleRule>('floor')
  const seedTyped = ref('0')
  const seed = computed(() => wholeNumber(seedTyped.value, 'Seed', { min: 0, max: mostSeed }))
  const pasted = ref('')
  const numbers = computed(() => parseNumbers(pasted.value))

  const file = shallowRef<File>()
  const opened = shallowRef<OpenedTensors>()
  /** Id of what was chosen in it, or byHand. */
  const tensorId = ref('')
  const named = reactive(nothingNamed())
  /** What the sample was taken from. */
  const taken = shallowRef<ValueSource>()
  const sample = shallowRef<TensorSample>()
  const problem = ref<string>()

  const drawn = computed(() => distributions.find((name) => name === source.value))

  /** What the values are, at hand here; the engine draws its own from the same seed. */
  const values = computed<Float64Array | Float32Array | undefined>(() => {
    if (source.value === 'tensor') return sample.value?.values
    if (source.value === 'pasted') return numbers.value.value
    return seed.value.value === undefined
      ? undefined
      : drawValues(source.value, drawnCount, seed.value.value)
  })

  async function openFile(picked: File): Promise<void> {
    source.value = 'tensor'
    problem.value = sample.value = taken.value = opened.value = undefined
    tensorId.value = ''
    try {
      const found = await openTensors(picked)
      file.value = picked
      opened.value = found
      const [likely] = found.likely
      Object.assign(named, nothingNamed(), {
        ...(likely && {
          codes: likely.codes.name,
          scales: likely.scales.name,
          format: likely.formats[0]!
        })
      })
      if (found.sources.length > 0) tensorId.value = found.sources[0]!.id
      else if (found.canBeNamed) tensorId.value = byHand
      else
        problem.value = `${picked.name} holds no F64, F32, F16 or BF16 tensor and no codes with scales; open a file with weights.`
    } catch (error) {
      problem.value = messageOf(error)
    }
  }

  /** Nothing while no file is open, or who names codes and scales by hand has not named all of them. */
  function asked(): { picked: File; from: ValueSource } | undefined {
    const [found, picked, id] = [opened.value, file.value, tensorId.value]
    if (!found || !picked || id === '') return undefined
    if (id !== byHand) return { picked, from: found.sources.find((one) => one.id === id)! }
    if (named.codes === '' || named.scales === '' || named.format === '') return undefined
    return { picked, from: weightByHand(found, picked.name, named) }
  }
  const { askAnother, changed } = useLatest(
    async () => {
      const now = asked()
      return now && { from: now.from, values: await readSample(now.picked, now.from) }
    },
    (read) => {
      if (!read) return
      problem.value = undefined
      sample.value = read.values
      taken.value = read.from
    }
  )
  watch([tensorId, () => ({ ...named })], async ([id]) => {
    try {
      if (asked()) return await askAnother()
      changed()
      if (id === byHand) problem.value = sample.value = taken.value = undefined
    } catch (error) {
      sample.value = taken.value = undefined
      problem.value = messageOf(error)
    }
  })

  return {
    source,
    rule,
    seedTyped,
    seed,
    pasted,
    numbers,
    file,
    opened,
    tensorId,
    named,
    taken,
    sample,
    problem,
    drawn,
    values,
    openFile
  }
})
