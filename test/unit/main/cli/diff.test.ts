import { describe, expect, it } from 'vitest'
import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { register } from '../../../../src-main/cli/diff'
import { register as registerView } from '../../../../src-main/cli/view'
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

  it('tells profiles of one name apart by their folders, and one file from itself by a number', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'diff-'))
    const files = ['first', 'second'].map((name) => {
      mkdirSync(join(folder, name))
      copyFileSync(a, join(folder, name, 'profile.hatchet'))
      return join(folder, name, 'profile.hatchet')
    })
    const heads = async (...words: string[]) =>
      (await runCommand(register, ['diff', ...words, '-m', 'time/us'])).stdout.split('\n')[0]
    expect(await heads(...files)).toMatch(/first\/profile time\/us +second\/profile time\/us/)
    expect(await heads(a, a)).toMatch(/^modern_a time\/us +modern_a \(2\) time\/us/)
  })

  it('takes every flag of a question: -t keeps what is that large on any side, rows by change', async () => {
    const rows = async (...words: string[]) =>
      (await runCommand(register, ['diff', a, c, '-m', 'time/us', ...words])).stdout
        .split('\n')
        .slice(1, -1)
        .map((line) => line.replace(/^.*[─ ](?=\w)/, ''))
    expect(await rows('-t', '100')).toHaveLength(5)
    expect(await rows('--flat', '--sort', 'change')).toHaveLength(4)
    expect((await rows('--flat', '--sort', 'change'))[1]).toContain('64>')
  })

  it('is what view --diff-profile prints, flags included', async () => {
    for (const words of [[], ['--flat'], ['-i', 'layer0'], ['-t', '0'], ['--hot-path']]) {
      const diff = await runCommand(register, ['diff', a, c, ...words])
      const view = await runCommand(registerView, ['view', c, '--diff-profile', a, ...words])
      expect(view.stdout).toBe(diff.stdout)
    }
  })

  it('needs two profiles and a known order', async () => {
    await expect(runCommand(register, ['diff', a])).rejects.toThrow(
      'diff needs two profiles or more'
    )
    await expect(runCommand(register, ['diff', a, c, '--sort', 'size'])).rejects.toThrow(
      'Allowed choices are chronological, name, change'
    )
  })
})
