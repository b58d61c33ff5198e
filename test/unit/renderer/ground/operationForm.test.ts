import { describe, expect, it } from 'vitest'
import {
  checkOperation,
  formatNames,
  initialOperation,
  operationFormOf
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
