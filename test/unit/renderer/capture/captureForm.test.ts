import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { captureSpecSchema } from '@shared/contract/capture'
import {
  captureCommand,
  readForm,
  type CaptureForm
} from '../../../../src-renderer/views/capture/captureForm'

const empty: CaptureForm = {
  ...{ command: '', workingFolder: '', after: '', for: '', range: '', kernels: '', only: '' },
  ...{ waits: false, wholeGraphs: false, python: false, counters: false, endProgram: false }
}

describe('the form of a capture', () => {
  it('asks for what the command line does, by the same schema', () => {
    const form = {
      ...empty,
      command: "python 'my train.py' --steps 3",
      workingFolder: '/data/run 1',
      after: '5s',
      for: '500ms',
      kernels: '^gemm',
      waits: true,
      endProgram: true
    }
    const { spec, problems } = readForm(form, "CUDA_VISIBLE_DEVICES=0 NAME='a b'")
    expect(problems).toEqual({})
    expect(v.parse(captureSpecSchema, spec)).toMatchObject({
      command: ['python', 'my train.py', '--steps', '3'],
      workingFolder: '/data/run 1',
      environment: { CUDA_VISIBLE_DEVICES: '0', NAME: 'a b' },
      ...{
        afterMs: 5000,
        forMs: 500,
        kernels: '^gemm',
        waits: true,
        wholeGraphs: false,
        python: false,
        counters: [],
        endProgram: true
      }
    })
    expect(captureCommand(form, spec)).toBe(
      "cd '/data/run 1' && CUDA_VISIBLE_DEVICES=0 NAME='a b' blockscope capture --after 5s --for 500ms --kernels '^gemm' --on-signal USR1 --end-program -- python 'my train.py' --steps 3"
    )
  })

  it('asks for nothing while a field is wrong, and says which', () => {
    expect(readForm(empty, '')).toEqual({ problems: {}, spec: undefined })
    const { problems, spec } = readForm({ ...empty, command: 'a | b', after: 'soon' }, '1=2')
    expect(spec).toBeUndefined()
    expect(problems).toEqual({
      command: `Command: "|" is for a shell: quote it, or capture sh -c '...'.`,
      after: 'A time is needed: 500ms, 10s, 2m or 1h.',
      environment: '"1=2" is no NAME=value.'
    })
  })
})
