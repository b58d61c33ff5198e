import { describe, expect, it } from 'vitest'
import { register } from '../../../../src-main/cli/layout'
import { runCommand } from './runCommand'

const run = (line: string) => runCommand(register, ['layout', ...line.split(' ')])
const json = async (line: string) =>
  JSON.parse((await run(`${line} --json`)).stdout) as Record<string, unknown>

describe('layout fragment', () => {
  it('finds the lane and register of an element, B as K x N', async () => {
    // PTX ISA: row 11 = group 3 + 8; column 44 = 32 + 8 * 1 + 4: lane 13, a28, which is register 3, bit 16.
    const a = 'fragment --shape m16n8k64 --operand A --row 11 --col 44'
    expect((await run(a)).stdout).toBe(
      'A of m16n8k64, 4-bit elements\n' +
        'm 11, k 44: lane 13, register 3, bits 16 to 19 (element 28 of the lane)\n'
    )
    expect(await json('fragment --shape m16n8k32 --operand B --row 21 --col 6')).toEqual({
      ...{ shape: 'm16n8k32', operand: 'B', bits: 8, n: 6, k: 21 },
      ...{ lane: 25, element: 5, register: 1, bit: 8 }
    })
    expect(
      (await run('fragment --shape 16x16x128 --operand A --bits 6 --row 3 --col 37')).stdout
    ).toContain('lane 19, register 0, bits 30 to 31 and bits 0 to 3 of the next')
  })

  it('lists what a register holds, the same places', async () => {
    const line = 'fragment --shape 32x32x64 --operand C --lane 37 --register 5'
    expect((await run(line)).stdout).toBe(
      'C of 32x32x64, 32-bit elements: lane 37, register 5\nfrom bit  0: m 13, n 5\n'
    )
    const { elements } = await json('fragment --shape m16n8k64 --operand A --lane 13 --register 3')
    expect(elements).toContainEqual({ m: 11, k: 44, bit: 16 })
    expect(elements).toHaveLength(8)
  })

  it.each([
    ['--shape m16n8k64 --operand A', 'Name one place'],
    ['--shape m16n8k64 --operand A --row 1 --col 1 --lane 0 --register 0', 'Name one place'],
    ['--shape m16n8k64 --operand A --row 16 --col 0', 'm = 16, k = 0 lies outside A of m16n8k64'],
    ['--shape m16n8k64 --operand A --bits 8 --row 0 --col 0', 'no elements of 8 bits'],
    ['--shape m8n8k4 --operand A --row 0 --col 0', '"m8n8k4" is no MMA shape'],
    ['--shape 16x16x128 --operand C --lane 64 --register 0', 'has lanes 0 to 63']
  ])('refuses %s', async (flags, message) => {
    await expect(run(`fragment ${flags}`)).rejects.toThrow(message)
  })
})

describe('layout value', () => {
  it('places a value of the Hopper swizzle', async () => {
    const first = await json('value --rows 256 --cols 128 --row 0 --col 1')
    expect(first).toMatchObject({ packedByte: 0, nibble: 1, offset: 2, bits: [15, 8, 7, 6] })
    const { stdout } = await run('value --mma 2 --rows 256 --cols 128 --row 0 --col 0')
    expect(stdout).toContain('triton_hopper_value_mma2, 256 x 128 fp4 values (16384 bytes')
    expect(stdout).toContain('half word at byte 0; its bits, sign first: 15, 8, 7, 6')
  })

  it.each([
    ['--rows 4 --cols 7 --row 0 --col 0', 'K must be even'],
    ['--rows 4 --cols 8 --row 4 --col 0', 'lies outside 4 x 8 fp4 values'],
    ['--mma 4 --rows 4 --cols 8 --row 0 --col 0', 'It is 2 (mma) or 3 (wgmma)']
  ])('refuses %s', async (flags, message) => {
    await expect(run(`value ${flags}`)).rejects.toThrow(message)
  })
})
