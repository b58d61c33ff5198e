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

  it('of a run: a row per operation, its format in the name; counts only where any ran more than once', async () => {
    const { stdout } = await runCommand(register, [
      'top',
      'test/fixtures/runs/h200-8192',
      '-n',
      '100'
    ])
    const [head, ...rows] = stdout.trimEnd().split('\n')
    expect(head!.trim().split(/ {2,}/)).toEqual([
      ...['time/ms', 'time/%', 'tflop/s', 'gbyte/s', 'util', 'name']
    ])
    expect(rows).toHaveLength(22)
    expect(rows.filter((row) => / wgmma (mxfp4|mxfp8|mixed|nvfp4) \[/.test(row))).toHaveLength(4)
    const launched = await runCommand(register, ['top', leaves, '-n', '1'])
    expect(launched.stdout.split('\n')[0]).toContain('count  avg_time/us')
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
