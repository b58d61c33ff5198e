/** Bytes of operands, held against the worked example of docs/formats.md. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { register } from '../../../../src-main/cli/formats'
import { runCommand } from './runCommand'

const bytes = (...words: string[]) => runCommand(register, ['formats', 'bytes', ...words])
const square = ['-M', '8192', '-N', '8192', '-K', '8192']

interface Shown {
  c: number
  formats: {
    format: string
    a: { elements: number; scales: number }
    b: { elements: number; scales: number }
    timesSmallerThanFp16: number
  }[]
}

describe('formats bytes', () => {
  it('gives the worked example of the docs', async () => {
    const page = readFileSync('docs/formats.md', 'utf8')
    const rows = [...page.matchAll(/^\| (\w+) \| (\d+) \| ([\d-]+) \| (\d+) \| ([\d.]+) \|$/gm)]
    expect(rows.map(([, name]) => name)).toEqual(['fp16', 'mxfp8', 'nvfp4', 'mxfp4'])
    const { stdout } = await bytes('--formats', 'mxfp8,nvfp4,mxfp4', ...square, '--json')
    const { formats, c } = JSON.parse(stdout) as Shown
    expect(c).toBe(128 * 2 ** 20)
    for (const [, name, elements, scales, both, smaller] of rows) {
      const { a, b, timesSmallerThanFp16 } = formats.find(
        ({ format }) => format === (name === 'fp16' ? 'bf16' : name)
      )!
      expect(a).toEqual(b)
      expect(a.elements / 2 ** 20, name).toBe(Number(elements))
      expect(a.scales / 2 ** 20, name).toBe(scales === '-' ? 0 : Number(scales))
      expect((a.elements + a.scales) / 2 ** 20, name).toBe(Number(both))
      expect(Number(timesSmallerThanFp16.toFixed(2)), name).toBe(Number(smaller))
    }
  })

  it('prints A, B and their scales apart, and C', async () => {
    const { stdout } = await bytes(
      '--formats',
      'mixed',
      '-M',
      '64',
      '-N',
      '128',
      '-K',
      '256',
      '--out',
      'e4m3'
    )
    expect(stdout).toMatch(/^fp16 +32\.0 KiB +- +64\.0 KiB +- +96\.0 KiB +the same$/m)
    expect(stdout).toMatch(
      /^mixed +16\.0 KiB +512 B +16\.0 KiB +1\.00 KiB +33\.5 KiB +2\.87x smaller$/m
    )
    expect(stdout).toContain('C of e4m3: 8.00 KiB.')
  })

  it('leaves out formats whose blocks do not divide K, and says so', async () => {
    const { stdout } = await bytes('--formats', 'mxfp4,nvfp4', '-M', '16', '-N', '16', '-K', '48')
    expect(stdout).toContain('Left out, as K=48 is no multiple of their scale block: mxfp4.')
    await expect(bytes('--formats', 'mxfp4', '-M', '16', '-N', '16', '-K', '48')).rejects.toThrow(
      'K=48 is a multiple of no scale block of mxfp4.'
    )
  })
})
