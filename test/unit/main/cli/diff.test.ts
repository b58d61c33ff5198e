import { describe, expect, it } from 'vitest'
import { register } from '../../../../src-main/cli/diff'
import { runCommand } from './runCommand'

const a = 'test/fixtures/proton/synthetic/modern_a.hatchet'
const c = 'test/fixtures/proton/synthetic/modern_c.hatchet'

describe('diff', () => {
  it('adds up and marks what is new and gone, with values', async () => {
    const { stdout } = await runCommand(register, ['diff', a, c, '-m', 'time/us'])
    expect(stdout).toBe(
      [
        'modern_a time/us  modern_c time/us    change  ratio  name',
        '         240.000            85.000  -155.000  0.354  ROOT',
        '         120.000            85.000   -35.000  0.708  ├─ layer0',
        '         100.000            80.000   -20.000  0.800  │  ├─ mxfp4_matmul <grid:64>',
        '          20.000                 -   -20.000      -  │  ├─ quantize (gone)',
        '               -             5.000     5.000      -  │  └─ dequant (new)',
        '         120.000                 -  -120.000      -  └─ layer1 (gone)',
        '         120.000                 -  -120.000      -     └─ mxfp4_matmul <grid:64> (gone)',
        ''
      ].join('\n')
    )
  })

  it('prints JSON', async () => {
    const { stdout } = await runCommand(register, [
      'diff',
      a,
      c,
      '-m',
      'time/us',
      '-d',
      '1',
      '--json'
    ])
    expect(JSON.parse(stdout)).toEqual({
      files: [a, c],
      metric: 'time/us',
      rows: [
        {
          name: 'ROOT',
          depth: 0,
          values: [240, 85],
          change: -155,
          ratio: 85 / 240,
          state: 'both',
          noise: null
        }
      ]
    })
  })

  it('needs two profiles and a known order', async () => {
    await expect(runCommand(register, ['diff', a])).rejects.toThrow(
      'diff needs two profiles or more'
    )
    await expect(runCommand(register, ['diff', a, c, '--sort', 'size'])).rejects.toThrow(
      "--sort 'size' is not"
    )
  })
})
