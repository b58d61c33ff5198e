/** The shapes of a model as a person chooses them in a form, in place of M, N and K. */
import type { ShapeRow, Shapes } from '@shared/contract/shapes'
import { messageOf, UserError } from '@shared/errors'
import type { GroupLayout } from '@shared/contract/groups'
import { bundledListNames, isBundledList, withGroupLayout } from '@shared/contract/shapes'
import {
  bundledLists,
  bundledModels,
  bundledShapes,
  usualTokens
} from '@shared/shapes/bundledModels'
import { listShapes, tokensOf } from '@shared/shapes/listShapes'
import { modelShapes } from '@shared/shapes/modelShapes'
import { readShapeFile } from '@shared/shapes/shapeFile'
import { extent, wholeNumber, type Checked } from './fields'

/** Stands for no model: M, N and K are typed. */
export const noModel = ''
/** Stands for shapes as they are: of a file, of a list that comes with the program, or of a run that was taken over. */
export const shapesOfRun = 'as in the run'

export type ShapesForm = {
  model: string
  tokens: string
  tp: string
  /** Of a list, those whose shapes are wanted; '': all. */
  listTokens: string
  /** How the experts of a model stand; '': they are products of their own. */
  groupLayout: GroupLayout | ''
  /** Of a file, or of the run that was taken over: one or none. */
  taken: Shapes[]
}

export const initialShapes: ShapesForm = {
  model: noModel,
  tokens: usualTokens.join(', '),
  tp: '1',
  listTokens: '',
  groupLayout: '',
  taken: []
}

export const modelChoices = ({ taken }: ShapesForm): { value: string; title: string }[] => [
  { value: noModel, title: 'As typed: M, N, K' },
  ...[...Object.keys(bundledModels), ...bundledListNames].map((name) => ({
    value: name,
    title: name
  })),
  ...taken.map(({ source }) => ({ value: shapesOfRun, title: source.split(/[/\\]/).at(-1)! }))
]

/** The form that makes these shapes. */
export function shapesFormOf(shapes: Shapes | undefined): ShapesForm {
  if (!shapes) return { ...initialShapes }
  const { source, tokens, tp, groupLayout } = shapes
  if (isBundledList(source))
    return { ...initialShapes, model: source, listTokens: tokens?.join(', ') ?? '' }
  if (!(source in bundledModels) || !tokens)
    return { ...initialShapes, model: shapesOfRun, taken: [shapes] }
  const made = { tokens: tokens.join(', '), tp: String(tp ?? 1) }
  return { ...initialShapes, model: source, ...made, groupLayout: groupLayout ?? '' }
}

/** Fields with their problems, and the shapes; undefined where none are chosen, or a field is wrong. */
export function checkShapes(form: ShapesForm): {
  fields: Record<'tokens' | 'tp', Checked<unknown>>
  shapes?: Shapes
} {
  if (form.model === noModel) return { fields: { tokens: {}, tp: {} } }
  if (isBundledList(form.model)) return checkList(form, bundledLists[form.model]())
  if (!(form.model in bundledModels)) {
    const [shapes] = form.taken
    return { fields: { tokens: {}, tp: {} }, ...(shapes && { shapes }) }
  }
  const all = tokensIn(form.tokens)
  const wrong = all.length === 0 ? { problem: 'Tokens are missing.' } : all.find(isWrong)
  const tp = wholeNumber(form.tp, 'GPUs a layer', { min: 1, max: 1024 })
  if (wrong || tp.value === undefined) return { fields: { tokens: wrong ?? {}, tp } }
  try {
    const tokens = [...new Set(all.map(({ value }) => value!))]
    return {
      fields: { tokens: {}, tp: {} },
      shapes: bundledShapes(form.model, { tokens, tp: tp.value }, form.groupLayout || undefined)
    }
  } catch (error) {
    return { fields: { tokens: {}, tp: { problem: messageOf(error) } } }
  }
}

/** Numbers of tokens as they are typed. */
const tokensIn = (text: string): Checked<number>[] =>
  text
    .split(/[\s,;]+/)
    .filter(Boolean)
    .map((word) => extent(word, 'Tokens', false))

function checkList(
  { model, listTokens }: ShapesForm,
  rows: readonly ShapeRow[]
): ReturnType<typeof checkShapes> {
  const all = tokensIn(listTokens)
  const wrong = all.find(isWrong)
  if (wrong) return { fields: { tokens: wrong, tp: {} } }
  try {
    const tokens = [...new Set(all.map(({ value }) => value!))]
    const shapes = listShapes(model, rows, tokens.length > 0 ? tokens : undefined)
    return { fields: { tokens: {}, tp: {} }, shapes }
  } catch (error) {
    return { fields: { tokens: { problem: messageOf(error) }, tp: {} } }
  }
}

/** The numbers of tokens that a chosen list has shapes of; none where it does not say, and of a model. */
export const listedTokens = ({ model }: ShapesForm): number[] =>
  isBundledList(model) ? tokensOf(bundledLists[model]()) : []

const isWrong = ({ problem }: Checked<number>) => problem !== undefined

/** Whether M, N and K come from a model. */
export const hasModel = ({ model }: ShapesForm): boolean => model !== noModel

/**
 * The shapes of a file that a person opened: a list as it is, a model's config.json for the tokens and GPUs of the form.
 * Throws a UserError that says what is wrong with it.
 */
export function shapesOfFile(text: string, name: string, form: ShapesForm): Shapes {
  const read = readShapeFile(text, name)
  if ('rows' in read) return { source: name, rows: read.rows }
  const all = tokensIn(form.tokens)
  const wrong = all.find(isWrong)
  if (wrong) throw new UserError('usage', wrong.problem!)
  const tokens = all.map(({ value }) => value!)
  const step = { tokens: tokens.length > 0 ? tokens : [...usualTokens], tp: Number(form.tp) || 1 }
  const groupLayout = form.groupLayout || undefined
  const rows = withGroupLayout(modelShapes(read.config, name, step), groupLayout)
  return { source: name, ...step, ...(groupLayout && { groupLayout }), rows }
}
