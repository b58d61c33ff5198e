import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import {
  groupRowsText,
  groupsSchema,
  groupsText,
  rowsOfAll,
  segmentsOf,
  shapeKey,
  type Groups
} from '@shared/contract/groups'
import { validateSpecSchema } from '@shared/contract/jobs'
import { productOf, rowOf, type ShapeRow } from '@shared/contract/shapes'
import { usesOf } from '@shared/measurement/modelTime'
import { workOf } from '@shared/measurement/work'
import { bundledLists, bundledShapes } from '@shared/shapes/bundledModels'
import { readShapeFile, shapesToCsv } from '@shared/shapes/shapeFile'

const groups = (input: v.InferInput<typeof groupsSchema>): Groups => v.parse(groupsSchema, input)
const messageOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

describe('groups', () => {
  it('stand where their layout puts them', () => {
    const rows = [13, 0, 64, 1]
    const starts = (layout: Groups['layout'], more = {}) => {
      const { segments, total } = segmentsOf(groups({ layout, rows, ...more }))
      return [...segments.map(({ firstRow }) => firstRow), total]
    }
    expect(starts('contiguous', { alignment: 64 })).toEqual([0, 64, 64, 128, 192])
    // What DeepGEMM's kernels of sm_90 want, where nothing is said.
    expect(starts('contiguous')).toEqual([0, 128, 128, 256, 384])
    expect(starts('masked')).toEqual([0, 64, 128, 192, 256])
    expect(starts('masked', { maxRows: 100 })).toEqual([0, 100, 200, 300, 400])
    expect(starts('offsets')).toEqual([0, 13, 13, 77, 78])
  })

  it('are refused in a sentence where they are none', () => {
    expect(messageOf(() => groups({ layout: 'masked', rows: [3, 41], maxRows: 40 }))).toBe(
      'group 1 has 41 rows, and a masked group has room for 40'
    )
    expect(messageOf(() => groups({ layout: 'offsets', rows: [0, 0] }))).toBe(
      'none of the groups has a row'
    )
    expect(
      messageOf(() => groups({ layout: 'masked', rows: Array.from({ length: 300 }, () => 8192) }))
    ).toContain('at most 1048576 are taken')
  })

  it('are said in few words', () => {
    expect(groupRowsText([300, 300, 0, 17])).toBe('2x300,0,17')
    expect(groupsText(groups({ layout: 'contiguous', rows: [64, 64] }))).toBe(
      '2 groups of 64 rows, contiguous'
    )
    expect(groupsText(groups({ layout: 'contiguous', rows: [1, 2], alignment: 16 }))).toBe(
      '2 groups of 1, 2 rows, contiguous in 16s'
    )
    const many = Array.from({ length: 256 }, (_, at) => at)
    expect(groupsText(groups({ layout: 'offsets', rows: many }))).toBe(
      '256 groups, 32640 rows in all, offsets'
    )
  })

  it('bring M, and are beside no batch', () => {
    const spec = { kind: 'validate', formats: ['mxfp4'], groups: { layout: 'offsets', rows: [4] } }
    expect(v.is(validateSpecSchema, spec)).toBe(true)
    expect(v.is(validateSpecSchema, { ...spec, m: 4 })).toBe(false)
    expect(v.is(validateSpecSchema, { ...spec, batchB: [2] })).toBe(false)
  })

  it('cost what their own rows cost, and read B for those that have rows', () => {
    const asked = {
      output: 'f16',
      groups: groups({ layout: 'contiguous', rows: [13, 0, 64], alignment: 64 })
    }
    const reads = { scaleLayout: 'nvidia_32_4_4', operandBits: 0 }
    const m = rowsOfAll(asked.groups)
    const work = workOf('mxfp8', m, 256, 128, asked, reads)
    expect(m).toBe(128)
    expect(work.flops).toBe(2 * 77 * 256 * 128)
    const operands = (77 + 2 * 256) * 128
    expect(work.bytes).toBe(operands + operands / 32 + 77 * 256 * 2)
    // Each group's scales are padded to 128 rows of their own.
    expect(work.paddedBytes).toBe(operands + (2 * 128 + 2 * 256) * 4 + 77 * 256 * 2)
  })
})

describe('shapes of groups', () => {
  it('are one product of all of them where they stand together', () => {
    const row: ShapeRow = { name: 'x', m: 64, n: 32, k: 128, groups: 3, weight: 5 }
    expect(productOf(row)).toEqual({ m: 64, n: 32, k: 128 })
    expect(usesOf(row)).toBe(15)
    const together: ShapeRow = { ...row, layout: 'masked', rows: [0, 64, 7] }
    expect(productOf(together)).toMatchObject({ m: 192, groups: { rows: [0, 64, 7], maxRows: 64 } })
    expect(usesOf(together)).toBe(5)
    expect(shapeKey(productOf(rowOf('y', productOf(together))))).toBe(shapeKey(productOf(together)))
  })

  it('are read from a file and written as they were', () => {
    const text =
      'm,n,k,groups,layout,rows,alignment\n64,32,128,3,contiguous,64 0 7,16\n8,32,128,1,,,\n'
    const read = readShapeFile(text, 'x.csv')
    if (!('rows' in read)) throw new Error('rows')
    expect(read.rows[0]).toMatchObject({ layout: 'contiguous', rows: [64, 0, 7], alignment: 16 })
    expect(readShapeFile(shapesToCsv(read.rows), 'x.csv')).toEqual(read)
    expect(shapesToCsv(read.rows.slice(1)).split('\n')[0]).toBe('name,m,n,k,groups,weight,tokens')
  })

  it.each([
    ['64,32,128,2,masked,64 0 7', 'there are 2 groups, and rows of 3: they do not add up'],
    ['8,32,128,2,offsets,8 9', 'group 1 has 9 rows, more than its m of 8'],
    ['8,32,128,2,,8 8', 'name their layout'],
    ['8,32,128,2,piled,8 8', 'layout'],
    ['8,32,128,2,offsets,8 x', 'rows'],
    ['8,32,128,2,offsets,0 0', 'none of the groups has a row']
  ])('%s is refused', (line, sentence) => {
    const words = messageOf(() => readShapeFile(`m,n,k,groups,layout,rows\n${line}\n`, 'x.csv'))
    expect(words).toContain('x.csv')
    expect(words).toContain(sentence)
  })

  it('are those of the experts of a model, where asked for', () => {
    const { rows, groupLayout } = bundledShapes('deepseek-v3', { tokens: [4096], tp: 1 }, 'masked')
    expect(groupLayout).toBe('masked')
    const experts = rows.filter(({ layout }) => layout)
    expect(experts.map(({ name, groups: count, m }) => [name, count, m])).toEqual([
      ['expert gate up', 256, 128],
      ['expert down', 256, 128]
    ])
    expect(productOf(experts[0]!).m).toBe(32768)
  })

  it("are DeepGEMM's", () => {
    const rows = bundledLists['deepgemm-grouped']()
    expect(rows).toHaveLength(20)
    expect(new Set(rows.map((row) => shapeKey(productOf(row)))).size).toBe(20)
    expect(productOf(rows[0]!)).toMatchObject({ m: 32768, n: 6144, k: 7168 })
  })
})
