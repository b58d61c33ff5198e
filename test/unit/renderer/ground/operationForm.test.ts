import { describe, expect, it } from 'vitest'
import {
  checkOperation,
  formatNames,
  initialOperation,
  operationFormOf,
  saysRows
} from '../../../../src-renderer/ground/operationForm'
import { plainOperation } from '@shared/contract/operation'

describe('what a form says of the operation', () => {
  it('is the plain product until something is typed', () => {
    const { fields, operation } = checkOperation(initialOperation, 'f16')
    expect(operation).toEqual(plainOperation)
    expect(Object.values(fields).every(({ problem }) => problem === undefined)).toBe(true)
  })

  it('takes dimensions of a batch with spaces or commas', () => {
    const form = { ...initialOperation, batchA: '2, 1', batchB: '3', accumulate: true }
    expect(checkOperation(form, 'f16').operation).toMatchObject({
      batchA: [2, 1],
      batchB: [3],
      accumulate: true
    })
  })

  it('is filled with what a run was asked', () => {
    const operation = {
      ...plainOperation,
      ...{ bOrder: 'kn' as const, accumulate: true, outputScale: 0.5, batchA: [2, 1], batchB: [3] }
    }
    expect(checkOperation(operationFormOf(operation), 'e4m3').operation).toEqual(operation)
    expect(operationFormOf(plainOperation)).toEqual(initialOperation)
  })

  it.each([
    { layout: 'contiguous', rows: [300, 300, 0, 17], alignment: 64, maxRows: 0 },
    { layout: 'contiguous', rows: [8192], alignment: 128, maxRows: 0 },
    { layout: 'masked', rows: [6, 0, 9], alignment: 1, maxRows: 32 },
    { layout: 'offsets', rows: [1, 2, 3], alignment: 1, maxRows: 0 }
  ] as const)('is filled with the groups of a run: %o', ({ rows, ...groups }) => {
    const operation = { ...plainOperation, groups: { ...groups, rows: [...rows] } }
    const { fields, operation: made } = checkOperation(operationFormOf(operation), 'f16')
    expect(made).toEqual(operation)
    expect(fields.groups.problem).toBeUndefined()
  })

  it('takes groups where nothing else says M', () => {
    const form = { ...initialOperation, groups: '2x300 17' }
    const problemWith = (m: string, hasShapes: boolean) =>
      checkOperation(form, 'f16', saysRows(m, hasShapes)).fields.groups.problem
    expect(problemWith(' ', false)).toBeUndefined()
    expect(problemWith('512', false)).toBe('The groups bring M, and so do the values of M.')
    expect(problemWith('', true)).toBe('The groups bring M, and so do the shapes.')
  })

  it.each([
    [{ groups: 'four' }, 'f16', 'groups', /such as 4x8192, 17/],
    [{ groups: '0, 0' }, 'f16', 'groups', /^None of the groups has a row\.$/],
    [{ groups: '8', batchA: '2' }, 'f16', 'groups', /^A grouped product has no batch/],
    [{ groups: '8', groupAlignment: 'x' }, 'f16', 'groups', /alignment must be a whole number/],
    [
      { groups: '8, 9', groupsLie: 'masked', maxRows: '8' },
      ...(['f16', 'groups', /^Group 1 has 9 rows, and a masked group has room for 8\.$/] as const)
    ],
    [{ batchA: '2', batchB: '3' }, 'f16', 'batchB', /does not broadcast/],
    [{ batchA: '2 x' }, 'f16', 'batchA', /whole number/],
    [{ outputScale: '0.5' }, 'f16', 'outputScale', /e4m3 or e5m2, not f16/],
    [{ outputScale: '-1' }, 'e4m3', 'outputScale', /above 0/]
  ] as const)('says what is wrong with %o', (typed, output, field, words) => {
    const { fields } = checkOperation({ ...initialOperation, ...typed }, output)
    expect(fields[field].problem).toMatch(words)
  })
})

describe('names of formats', () => {
  it('are short names, pairs, and words for several', () => {
    expect(formatNames('mxfp8, E5M2xE2M1 pairs e4m3xe2m1').value).toEqual([
      'mxfp8',
      'e5m2xe2m1',
      'pairs',
      'mixed'
    ])
    expect(formatNames('').value).toEqual([])
    expect(formatNames('mxfp5').problem).toMatch(/no block-scaled format/)
  })
})
