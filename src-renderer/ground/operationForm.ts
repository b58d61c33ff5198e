/** What the operation has beside the plain product, as a person types it into a form. */
import {
  plainOperation,
  problemOfOperation,
  type BOrder,
  type Operation
} from '@shared/contract/operation'
import {
  groupLayouts,
  groupRowsText,
  groupsSchema,
  parseGroupRows,
  usualAlignment,
  type GroupLayout,
  type Groups
} from '@shared/contract/groups'
import { messageOf } from '@shared/errors'
import { formatNamed } from '@shared/formats/formatSets'
import * as v from 'valibot'
import { extent, type Checked } from './fields'

export type OperationForm = {
  bOrder: BOrder
  accumulate: boolean
  outputScale: string
  /** '4, 1'; '': one matrix. */
  batchA: string
  batchB: string
  /** Rows of each group, '4x8192, 17'; '': one product. */
  groups: string
  groupsLie: GroupLayout
  /** Of the segments of contiguous groups; '': what is usual. */
  groupAlignment: string
  /** That a masked group has room for; '': as many as the largest has. */
  maxRows: string
}

export const initialOperation: OperationForm = {
  bOrder: plainOperation.bOrder,
  accumulate: plainOperation.accumulate,
  outputScale: '',
  batchA: '',
  batchB: '',
  groups: '',
  groupsLie: groupLayouts[0],
  groupAlignment: '',
  maxRows: ''
}

/** The form that makes this operation. */
export const operationFormOf = (asked: Operation): OperationForm => ({
  bOrder: asked.bOrder,
  accumulate: asked.accumulate,
  outputScale: asked.outputScale === 1 ? '' : String(asked.outputScale),
  batchA: asked.batchA.join(', '),
  batchB: asked.batchB.join(', '),
  ...groupsFormOf(asked.groups)
})

function groupsFormOf(groups: Groups | undefined) {
  const { groupsLie, groupAlignment, maxRows } = initialOperation
  if (!groups) return { groups: '', groupsLie, groupAlignment, maxRows }
  const { layout, rows, alignment } = groups
  return {
    groups: groupRowsText(rows).replaceAll(',', ', '),
    groupsLie: layout,
    groupAlignment:
      layout === 'contiguous' && alignment !== usualAlignment ? String(alignment) : '',
    maxRows: layout === 'masked' ? String(groups.maxRows) : ''
  }
}

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

/** Groups, undefined for none. `elsewhere`: what says M beside them, if something does. */
function groupsOf(form: OperationForm, elsewhere: string | undefined): Checked<Groups | undefined> {
  if (form.groups.trim() === '') return { value: undefined }
  const rows = parseGroupRows(form.groups)
  if (!rows) return { problem: 'Rows of each group are needed, such as 4x8192, 17.' }
  if (elsewhere !== undefined) return { problem: `The groups bring M, and so do ${elsewhere}.` }
  const { groupsLie: layout, groupAlignment, maxRows } = form
  const [alignment, room] = [
    extent(layout === 'contiguous' ? groupAlignment : '', 'The alignment'),
    extent(layout === 'masked' ? maxRows : '', 'The room of a group')
  ]
  const problem = alignment.problem ?? room.problem
  if (problem !== undefined) return { problem }
  const parsed = v.safeParse(groupsSchema, {
    ...{ layout, rows },
    ...(alignment.value !== undefined && { alignment: alignment.value }),
    ...(room.value !== undefined && { maxRows: room.value })
  })
  return parsed.success ? { value: parsed.output } : { problem: sentence(parsed.issues[0].message) }
}

/**
 * Fields with their values or problems, and the operation they make while none has a problem. `elsewhere`: what says M, if
 * something does: 'the values of M'.
 */
export function checkOperation(form: OperationForm, output: string, elsewhere?: string) {
  const groups = groupsOf(form, elsewhere)
  const fields: Record<'outputScale' | 'batchA' | 'batchB' | 'groups', Checked<unknown>> = {
    outputScale: scaleOf(form.outputScale),
    batchA: dimsOf(form.batchA, 'A dimension of the batch'),
    batchB: dimsOf(form.batchB, 'A dimension of the batch'),
    groups
  }
  const operation: Operation = {
    bOrder: form.bOrder,
    accumulate: form.accumulate,
    outputScale: scaleOf(form.outputScale).value ?? 1,
    batchA: dimsOf(form.batchA, '').value ?? [],
    batchB: dimsOf(form.batchB, '').value ?? [],
    ...(groups.value && { groups: groups.value })
  }
  const wrong = problemOfOperation(operation, output)
  if (wrong && !fields[wrong.field].problem)
    fields[wrong.field] = { problem: sentence(wrong.message) }
  return { fields, operation }
}

/** What says M in a form of jobs, if something does. */
export const saysRows = (m: string, hasShapes: boolean): string | undefined =>
  hasShapes ? 'the shapes' : m.trim() === '' ? undefined : 'the values of M'

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`

/** Names of formats, "all" and "pairs" among them; '' is none. */
export function formatNames(typed: string): Checked<string[]> {
  try {
    return { value: [...new Set(wordsOf(typed).map(formatNamed))] }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}
