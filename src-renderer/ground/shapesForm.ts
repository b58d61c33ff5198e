/** The shapes of a model as a person chooses them in a form, in place of M, N and K. */
import type { Shapes } from '@shared/contract/shapes'
import { messageOf } from '@shared/errors'
import { bundledModels, bundledShapes, usualTokens } from '@shared/shapes/bundledModels'
import { extent, wholeNumber, type Checked } from './fields'

/** Stands for no model: M, N and K are typed. */
export const noModel = ''
/** Stands for the shapes of a run that was taken over: no field here makes those of a file. */
export const shapesOfRun = 'as in the run'

export type ShapesForm = {
  model: string
  tokens: string
  tp: string
  /** Of the run that was taken over: one or none. */
  taken: Shapes[]
}

export const initialShapes: ShapesForm = {
  model: noModel,
  tokens: usualTokens.join(', '),
  tp: '1',
  taken: []
}

export const modelChoices = ({ taken }: ShapesForm): { value: string; title: string }[] => [
  { value: noModel, title: 'As typed: M, N, K' },
  ...Object.keys(bundledModels).map((name) => ({ value: name, title: name })),
  ...taken.map(({ source }) => ({ value: shapesOfRun, title: source.split(/[/\\]/).at(-1)! }))
]

/** The form that makes these shapes. */
export function shapesFormOf(shapes: Shapes | undefined): ShapesForm {
  if (!shapes) return { ...initialShapes }
  const { source, tokens, tp } = shapes
  if (!(source in bundledModels) || !tokens)
    return { ...initialShapes, model: shapesOfRun, taken: [shapes] }
  return { ...initialShapes, model: source, tokens: tokens.join(', '), tp: String(tp ?? 1) }
}

/** Fields with their problems, and the shapes; undefined where none are chosen, or a field is wrong. */
export function checkShapes(form: ShapesForm): {
  fields: Record<'tokens' | 'tp', Checked<unknown>>
  shapes?: Shapes
} {
  if (form.model === noModel) return { fields: { tokens: {}, tp: {} } }
  if (!(form.model in bundledModels)) {
    const [shapes] = form.taken
    return { fields: { tokens: {}, tp: {} }, ...(shapes && { shapes }) }
  }
  const words = form.tokens.split(/[\s,;]+/).filter(Boolean)
  const all = words.map((word) => extent(word, 'Tokens', false))
  const wrong = words.length === 0 ? { problem: 'Tokens are missing.' } : all.find(isWrong)
  const tp = wholeNumber(form.tp, 'GPUs a layer', { min: 1, max: 1024 })
  if (wrong || tp.value === undefined) return { fields: { tokens: wrong ?? {}, tp } }
  try {
    const tokens = [...new Set(all.map(({ value }) => value!))]
    return {
      fields: { tokens: {}, tp: {} },
      shapes: bundledShapes(form.model, { tokens, tp: tp.value })
    }
  } catch (error) {
    return { fields: { tokens: {}, tp: { problem: messageOf(error) } } }
  }
}

const isWrong = ({ problem }: Checked<number>) => problem !== undefined

/** Whether M, N and K come from a model. */
export const hasModel = ({ model }: ShapesForm): boolean => model !== noModel
