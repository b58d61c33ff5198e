/** What runs of earlier versions asked for, in the words of today. */
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { commandOf } from '@shared/contract/command'
import { jobSpecSchema } from '@shared/contract/jobs'
import { bringSpecUpToDate } from '@shared/contract/olderRuns'

const upToDate = (spec: object) => v.parse(jobSpecSchema, bringSpecUpToDate(spec))

describe('the spec of an older run', () => {
  it('named one file of operands', () => {
    const spec = upToDate({ kind: 'validate', formats: ['nvfp4'], operandsFile: '/o.safetensors' })
    expect(spec).toMatchObject({ operandsFiles: ['/o.safetensors'] })
    expect(commandOf(spec)).toContain('--operands /o.safetensors')
  })

  it('swept one M and one N', () => {
    const spec = upToDate({ kind: 'sweep', formats: ['nvfp4'], m: 16, n: 64, kValues: [512] })
    expect(spec).toMatchObject({ mValues: [16], nValues: [64], kValues: [512] })
  })

  it('of today is left as it is', () => {
    const spec = { kind: 'validate', formats: ['nvfp4'], operandsFiles: ['/a.npy', '/b.npy'] }
    expect(bringSpecUpToDate(spec)).toEqual(spec)
  })
})
