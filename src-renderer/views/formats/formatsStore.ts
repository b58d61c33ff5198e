/**
 * The values that the Formats view looks at, for its tabs alike: drawn, pasted, or rows of a tensor. They stay for as long as
 * the page.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef, watch } from 'vue'
import { messageOf } from '@shared/errors'
import { distributions, drawValues, type Distribution } from '@shared/formats/compare'
import type { TensorSample } from '@shared/formats/floatTensor'
import { scaleRules, type ScaleRule } from '@shared/formats/quantize'
import type { TensorEntry } from '@shared/formats/safetensors'
import { wholeNumber } from '../../ground/fields'
import { listTensors, parseNumbers, readSample } from './ownValues'

/** As many as the engine draws: 64 rows of 256. */
const drawnCount = 16_384
const mostSeed = 1_000_000

export const valueSources = [
  ...distributions.map((name) => ({ value: name, title: `${name} distribution` })),
  { value: 'pasted' as const, title: 'pasted numbers' },
  { value: 'tensor' as const, title: 'tensor of a .safetensors file' }
]
export const ruleChoices = scaleRules.map((name) => ({ value: name, title: name }))

export const useFormatValues = defineStore('formatValues', () => {
  const source = ref<Distribution | 'pasted' | 'tensor'>('normal')
  const rule = ref<ScaleRule>('floor')
  const seedTyped = ref('0')
  const seed = computed(() => wholeNumber(seedTyped.value, 'Seed', { min: 0, max: mostSeed }))
  const pasted = ref('')
  const numbers = computed(() => parseNumbers(pasted.value))

  const file = shallowRef<File>()
  const tensors = shallowRef<readonly TensorEntry[]>([])
  const tensorName = ref('')
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
    problem.value = undefined
    sample.value = undefined
    tensorName.value = ''
    try {
      tensors.value = await listTensors(picked)
      file.value = picked
      if (tensors.value.length === 0) {
        problem.value = `${picked.name} holds no F64, F32, F16 or BF16 tensor; open a file with the original values.`
      } else tensorName.value = tensors.value[0]!.name
    } catch (error) {
      problem.value = messageOf(error)
    }
  }

  watch(tensorName, async (name) => {
    const tensor = tensors.value.find((entry) => entry.name === name)
    if (!tensor || !file.value) return
    try {
      const read = await readSample(file.value, tensor)
      if (tensorName.value !== name) return
      problem.value = undefined
      sample.value = read
    } catch (error) {
      sample.value = undefined
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
    tensors,
    tensorName,
    sample,
    problem,
    drawn,
    values,
    openFile
  }
})
