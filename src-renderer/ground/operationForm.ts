/** What the operation has beside the plain product, as a person types it into a form. */
import {
  plainOperation,
  problemOfOperation,
  type BOrder,
  type Operation
} from '@shared/contract/operation'
import { messageOf } from '@shared/errors'
import { findBlockFormat } from '@shared/formats/blockFormat'
import { extent, type Checked } from './fields'

export type OperationForm = {
  bOrder: BOrder
  accumulate: boolean
  outputScale: string
  /** '4, 1'; '': one matrix. */
  batchA: string
  batchB: string
}

export const initialOperation: OperationForm = {
  bOrder: plainOperation.bOrder,
  accumulate: plainOperation.accumulate,
  outputScale: '',
  batchA: '',
  batchB: ''
}

/** The form that makes this operation. */
export const operationFormOf = (asked: Operation): OperationForm => ({
  bOrder: asked.bOrder,
  accumulate: asked.accumulate,
  outputScale: asked.outputScale === 1 ? '' : String(asked.outputScale),
  batchA: asked.batchA.join(', '),
  batchB: asked.batchB.join(', ')
})

const wordsOf = (typed: string) => typed.split(/[\s,;]+/).filter(Boolean)

function dimsOf(typed: string, name: string): Checked<number[]> {
  const dims: number[] = []
  for (const word of wordsOf(typed)) {
    const dim = extent(word, name, false)
    if (dim.value === undefined) return { problem: dim.problem }
    dims.push(dim.value)
  }
  return { value: dims }
}

function scaleOf(typed: string): Checked<number> {
  if (typed.trim() === '') return { value: 1 }
  const value = Number(typed.trim())
  if (Number.isFinite(value) && value > 0) return { value }
  return { problem: 'The output scale must be a number above 0, such as 0.25.' }
}

/** Fields with their values or problems, and the operation they make while none has a problem. */
export function checkOperation(form: OperationForm, output: string) {
  const fields: Record<'outputScale' | 'batchA' | 'batchB', Checked<unknown>> = {
    outputScale: scaleOf(form.outputScale),
    batchA: dimsOf(form.batchA, 'A dimension of the batch'),
    batchB: dimsOf(form.batchB, 'A dimension of the batch')
  }
  const operation: Operation = {
    bOrder: form.bOrder,
    accumulate: form.accumulate,
    outputScale: scaleOf(form.outputScale).value ?? 1,
    batchA: dimsOf(form.batchA, '').value ?? [],
    batchB: dimsOf(form.batchB, '').value ?? []
  }
  const wrong = problemOfOperation(operation, output)
  // The form makes no groups.
  if (wrong && wrong.field !== 'groups' && !fields[wrong.field].problem)
    fields[wrong.field] = { problem: sentence(wrong.message) }
  return { fields, operation }
}

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`

/** Names of formats, "all" and "pairs" among them; '' is none. */
export function formatNames(typed: string): Checked<string[]> {
  try {
    const names = wordsOf(typed).map((word) => {
      const lower = word.toLowerCase()
      return lower === 'all' || lower === 'pairs' ? lower : findBlockFormat(word).id
    })
    return { value: [...new Set(names)] }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}
