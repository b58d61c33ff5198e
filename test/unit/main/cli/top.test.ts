import { describe, expect, it } from 'vitest'
import { register } from '../../../../src-main/cli/top'
import { runCommand } from './runCommand'

const leaves = 'test/fixtures/proton/upstream/leaf_nodes.json'

describe('top', () => {
  it('lists kernels by time, one row per name', async () => {
    const { stdout } = await runCommand(register, ['top', leaves, '-n', '2', '-m', 'time/ms,count'])
    expect(stdout).toBe(
      [
        'time/ms  count  name',
        ' 93.037    480  kernel_3_2_2',
        ' 78.190    402  kernel_1_2_2',
        '6 more; -n 8 shows all.',
        ''
      ].join('\n')
    )
  })

  it('prints JSON', async () => {
    const { stdout } = await runCommand(register, [
      'top',
      leaves,
      '-n',
      '1',
      '--json',
      '-m',
      'time/ns'
    ])
    expect(JSON.parse(stdout)).toEqual({
      kernels: 8,
      rows: [{ name: 'kernel_3_2_2', metrics: { 'time/ns': 93036508 } }]
    })
  })
})
