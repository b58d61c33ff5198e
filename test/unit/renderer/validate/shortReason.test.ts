/** Reasons in the room of a cell: the sentences are those that runs on an H200, and this machine's engine, hold. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseRun } from '@shared/contract/parseRun'
import { missingReason, shortReason } from '@shared/measurement/shortReason'
import { validateMatrix } from '../../../../src-renderer/views/validate/validateMatrix'

describe('a short reason', () => {
  it.each([
    ['This kernel does not compute it.', ['mxfp4'], 'mxfp4 only'],
    [
      'Kernel cublaslt-mxfp8 does not compute nvfp4.',
      ['mxfp8', 'mxfp8_e5m2'],
      'mxfp8, mxfp8_e5m2 only'
    ],
    ['triton does not take this format.', ['a', 'b', 'c'], 'other formats'],
    ['triton does not take this format.', [], ''],
    ['Written for sm_120a, sm_121a; this device is sm_90.', [], 'for sm_120a'],
    ['cuBLASLt has block scaling from sm_100 on.', [], 'from sm_100 on'],
    [
      'Triton 3.6.0 has no path for e4m3 scales below sm_100: its compiler aborts.',
      [],
      'does not compile'
    ],
    ['This CPU has no AVX-512 VNNI.', [], 'no AVX-512 VNNI'],
    ['', ['mxfp4'], ''],
    ['Something else happened.', ['mxfp4'], '']
  ] as const)('%s %j: %s', (reason, takes, words) => expect(shortReason(reason, takes)).toBe(words))

  it('is that of the device for a kernel without code for a format, and none where there is code', () => {
    const { device } = parseRun(readFileSync('docs/results/h200-8192/run.json', 'utf8'), 'run.json')
    expect(missingReason(device, 'wgmma-fp8-p32', 'mxfp8').words).toBe('mxfp4 only')
    expect(missingReason(device, 'triton', 'nvfp4').words).toBe('does not compile')
    const none = { reason: '', words: '' }
    expect(missingReason(device, 'wgmma', 'mxfp8')).toEqual(none)
    expect(missingReason(device, 'unknown', 'mxfp8')).toEqual(none)
    expect(missingReason(undefined, 'wgmma', 'mxfp8')).toEqual(none)
  })

  it('stands in the cells of a device that cannot, with the sentence beside it', () => {
    const { device } = parseRun(readFileSync('docs/results/h200-8192/run.json', 'utf8'), 'run.json')
    const { cell } = validateMatrix(undefined, device, { running: false, activity: '' })
    expect(cell('cublaslt-nvfp4', 'nvfp4')).toMatchObject({
      note: 'from sm_100 on',
      reason: 'cuBLASLt has block scaling from sm_100 on.'
    })
    expect(cell('triton', 'nvfp4').note).toBe('does not compile')
    expect(cell('wgmma', 'mxfp4').note).toBe('')
  })
})
