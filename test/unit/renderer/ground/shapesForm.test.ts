import { describe, expect, it } from 'vitest'
import { bundledShapes } from '@shared/shapes/bundledModels'
import {
  checkShapes,
  initialShapes,
  listedTokens,
  modelChoices,
  shapesFormOf,
  shapesOfFile
} from '../../../../src-renderer/ground/shapesForm'

describe('the shapes of a form', () => {
  it('are none until a model is chosen, and then its layers', () => {
    expect(checkShapes(initialShapes).shapes).toBeUndefined()
    const form = { ...initialShapes, model: 'llama-70b', tokens: '1, 16', tp: '8' }
    expect(checkShapes(form).shapes).toEqual(bundledShapes('llama-70b', { tokens: [1, 16], tp: 8 }))
  })

  it('say which field is wrong', () => {
    const problems = (more: object) => {
      const { fields, shapes } = checkShapes({ ...initialShapes, model: 'gpt-oss-120b', ...more })
      expect(shapes).toBeUndefined()
      return [fields.tokens.problem, fields.tp.problem]
    }
    expect(problems({ tokens: '' })[0]).toBe('Tokens are missing.')
    expect(problems({ tokens: '1, x' })[0]).toBe('Tokens must be a whole number.')
    expect(problems({ tp: '0' })[1]).toBe('GPUs a layer must be from 1 to 1,024.')
    expect(problems({ tp: '7' })[1]).toContain('which 7 GPUs cannot share evenly')
  })

  it('are those of a run that is taken over, also of a file', () => {
    const bundled = bundledShapes('qwen3-32b', { tokens: [4], tp: 2 })
    expect(checkShapes(shapesFormOf(bundled)).shapes).toEqual(bundled)
    const row = { name: 'a', m: 1, n: 2, k: 32, groups: 1, weight: 1 }
    const own = { source: '/home/x/own.csv', rows: [row] }
    const form = shapesFormOf(own)
    expect(checkShapes(form).shapes).toBe(own)
    expect(modelChoices(form).at(-1)!.title).toBe('own.csv')
    expect(shapesFormOf(undefined)).toEqual(initialShapes)
  })

  it('are those of a file that is opened, or what is wrong with it', () => {
    const list = shapesOfFile('m,n,k,groups,layout\n8,32,64,4,masked\n', 'x.csv', initialShapes)
    expect(list).toMatchObject({ source: 'x.csv', rows: [{ m: 8, groups: 4, layout: 'masked' }] })
    expect(checkShapes(shapesFormOf(list)).shapes).toEqual(list)
    const config = JSON.stringify({
      ...{ model_type: 'llama', hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2 },
      num_attention_heads: 2
    })
    const made = shapesOfFile(config, 'config.json', { ...initialShapes, tokens: '1, 4', tp: '2' })
    expect(made).toMatchObject({ source: 'config.json', tokens: [1, 4], tp: 2 })
    expect(made.rows).toHaveLength(8)
    expect(() => shapesOfFile('a,b\n1,2\n', 'x.csv', initialShapes)).toThrow(
      'x.csv: the first line'
    )
    expect(() => shapesOfFile(config, 'c.json', { ...initialShapes, tokens: 'x' })).toThrow(
      'Tokens'
    )
  })

  it('are those of a list, or those of its tokens that are named', () => {
    const form = { ...initialShapes, model: 'llm-layers' }
    expect(listedTokens(form)).toEqual([1, 8, 16, 32, 64, 4096])
    expect(checkShapes(form).shapes!.rows).toHaveLength(42)
    const few = checkShapes({ ...form, listTokens: '8, 64 8' }).shapes!
    expect(few).toMatchObject({ source: 'llm-layers', tokens: [8, 64] })
    expect(few.rows.map(({ m }) => m)).toEqual([...Array(7).fill(8), ...Array(7).fill(64)])
    expect(checkShapes(shapesFormOf(few)).shapes).toEqual(few)
    const wrong = (listTokens: string) => checkShapes({ ...form, listTokens }).fields.tokens.problem
    expect(wrong('2')).toBe(
      'llm-layers has no shapes of 2 tokens; it has those of 1, 8, 16, 32, 64, 4096.'
    )
    expect(wrong('x')).toBe('Tokens must be a whole number.')
    expect(listedTokens({ ...form, model: 'deepgemm-grouped' })).toEqual([])
    expect(listedTokens({ ...form, model: 'llama-70b' })).toEqual([])
  })

  it('group the experts of a model where that is chosen, and lists come as they are', () => {
    const form = { ...initialShapes, model: 'gpt-oss-120b', groupLayout: 'masked' as const }
    const { shapes } = checkShapes(form)
    expect(shapes!.rows.some(({ layout }) => layout === 'masked')).toBe(true)
    expect(shapesFormOf(shapes)).toEqual(form)
    const list = checkShapes({ ...initialShapes, model: 'deepgemm-grouped' }).shapes
    expect(list!.rows).toHaveLength(20)
    expect(shapesFormOf(list).model).toBe('deepgemm-grouped')
  })
})
