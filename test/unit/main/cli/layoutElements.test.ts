import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { elementPackings } from '@shared/layouts/elementPacking'
import { register } from '../../../../src-main/cli/layout'
import { runCommand } from './runCommand'

const folder = mkdtempSync(join(tmpdir(), 'layout-elements-'))
const file = (name: string) => join(folder, name)
const run = (...argv: string[]) => runCommand(register, ['layout', 'elements', ...argv])

describe('layout elements', () => {
  it('lists every packing with its source', async () => {
    const { stdout } = await run('list')
    for (const { name, source } of elementPackings) {
      expect(stdout).toContain(name)
      expect(stdout).toContain(source)
    }
    const json = JSON.parse((await run('list', '--json')).stdout) as { name: string }[]
    expect(json.map(({ name }) => name)).toEqual(elementPackings.map(({ name }) => name))
  })

  it('locates a code in every packing of its width', async () => {
    const { stdout } = await run('locate', '--bits', '4', '--index', '21')
    expect(stdout.trim().split('\n')).toEqual([
      'fp4_low_first     byte 10, bits 4 to 7',
      'fp4_high_first    byte 10, bits 0 to 3',
      'fp4_halves_32     byte 5, bits 4 to 7',
      'fp4_halves_16     byte 13, bits 0 to 3',
      'fp4_align16       byte 18, bits 4 to 7',
      'fp4_byte          byte 21, bits 0 to 3',
      'fp4_byte_middle   byte 21, bits 2 to 5'
    ])
    expect((await run('locate', '--bits', '6', '--index', '1')).stdout).toContain(
      'fp6_dense         byte 0, bits 6 to 7 and 0 to 3 of the next'
    )
    await expect(run('locate', '--bits', '8', '--index', '1')).rejects.toThrow(/--bits 8/)
  })

  it('converts a GGUF block to the order of checkpoints, and back', async () => {
    const ggml = Uint8Array.from({ length: 32 }, (_, i) => (i * 29 + 7) & 255)
    writeFileSync(file('ggml.bin'), ggml)
    const there = ['--from', 'fp4_halves_32', '--to', 'fp4_low_first']
    const { stdout } = await run(
      'convert',
      ...there,
      '--in',
      file('ggml.bin'),
      '--out',
      file('linear.bin')
    )
    expect(stdout).toContain('64 codes from fp4_halves_32 to fp4_low_first: 32 bytes')
    const linear = readFileSync(file('linear.bin'))
    expect(linear[0]).toBe((ggml[0]! & 15) | ((ggml[1]! & 15) << 4))
    expect(linear[8]).toBe((ggml[0]! >> 4) | (ggml[1]! & 0xf0))
    const back = ['--from', 'fp4_low_first', '--to', 'fp4_halves_32']
    await run('convert', ...back, '--in', file('linear.bin'), '--out', file('back.bin'))
    expect(new Uint8Array(readFileSync(file('back.bin')))).toEqual(ggml)
  })

  it('refuses another width, a size that does not fit, and an unknown packing', async () => {
    writeFileSync(file('odd.bin'), new Uint8Array(15))
    const of = (from: string, to: string) => [
      ...['convert', '--from', from, '--to', to],
      ...['--in', file('odd.bin'), '--out', file('no.bin')]
    ]
    await expect(run(...of('fp4_byte', 'fp6_byte'))).rejects.toThrow(/codes of 4 bits and .* of 6/)
    await expect(run(...of('fp4_align16', 'fp4_byte'))).rejects.toThrow(/groups of 16/)
    await expect(run(...of('fp4', 'fp4_byte'))).rejects.toThrow(/fp4_low_first/)
  })
})
