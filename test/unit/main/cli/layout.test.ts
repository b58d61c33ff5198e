import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { register } from '../../../../src-main/cli/layout'
import { runCommand } from './runCommand'

const run = (...argv: string[]) => runCommand(register, ['layout', ...argv])
const size = (name: string, rows: number, cols: number) =>
  `--layout ${name} --rows ${rows} --cols ${cols}`.split(' ')

describe('layout map', () => {
  it('prints the golden map as JSON', async () => {
    const [golden] = JSON.parse(
      readFileSync('test/fixtures/golden/scale_layouts.json', 'utf8')
    ) as { layout: string; rows: number; cols: number; packed: number[] }[]
    const { stdout } = await run(
      'map',
      ...size(golden!.layout, golden!.rows, golden!.cols),
      '--json'
    )
    expect(JSON.parse(stdout)).toEqual({ packed: golden!.packed })
  })

  it('shows padding: -1 in JSON, a dot in the table', async () => {
    const { stdout } = await run('map', ...size('nvidia_32_4_4', 100, 3), '--json')
    expect((JSON.parse(stdout) as { packed: number[] }).packed[3]).toBe(-1)
    const table = await run('map', ...size('nvidia_32_4_4', 100, 3))
    expect(table.stdout).toContain('100 x 3 scales, 512 bytes')
    expect(table.stdout).toMatch(/ 0 +0 +1 +2 +\. +96/)
  })

  it.each([
    [size('nvidia', 4, 4), '"nvidia" is no scale layout'],
    [[...size('nvidia_32_4_4', 100, 3), '--no-padding'], 'takes 128 x 4 for 100 x 3 scales'],
    [size('linear', 0, 4), 'above 0']
  ])('refuses %j', async (argv, message) => {
    await expect(run('map', ...argv)).rejects.toThrow(message)
  })
})

describe('layout locate', () => {
  it('gives offset, views and the formula filled in', async () => {
    const at = [...size('nvidia_32_4_4', 256, 8), '--row', '165', '--col', '6']
    const found = JSON.parse((await run('locate', ...at, '--json')).stdout) as {
      offset: number
      filled: string
      views: { name: string; shape: number[]; coordinates: number[] }[]
    }
    expect(found.offset).toBe(1622)
    expect(found.filled).toMatch(/= 1622$/)
    expect(found.views).toEqual([
      { name: '5D', shape: [2, 2, 32, 4, 4], coordinates: [1, 1, 5, 1, 2] },
      { name: '4D', shape: [2, 2, 32, 16], coordinates: [1, 1, 5, 6] },
      { name: 'TMA 5D', shape: [1, 2, 2, 2, 256], coordinates: [0, 1, 1, 0, 86] },
      { name: 'USE_2D_SCALE_LOAD', shape: [2, 1024], coordinates: [1, 598] }
    ])
    const { stdout } = await run('locate', ...at)
    expect(stdout).toContain('packed byte 1622')
    expect(stdout).toContain(
      'tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X  A or B, tile 1 along M or N, 1 along K: ' +
        'lanes 5, 37, 69 and 101, column 5, byte 2 (SFA_ID or SFB_ID 0)'
    )
    expect(stdout).toContain('lanes 20 or 22, byte 2 (thread-id-a 0 to 1, byte-id-a 2)')
  })

  it('refuses a place outside', async () => {
    await expect(
      run('locate', ...size('linear', 4, 4), '--row', '4', '--col', '0')
    ).rejects.toThrow('Row 4, column 0 lies outside 4 x 4 scales')
  })
})

it('list names every layout, code prints a function', async () => {
  expect((await run('list')).stdout).toContain('cdna4_mfma16')
  expect((await run('code', '--layout', 'cdna4_mfma32')).stdout).toContain('def scale_offset(')
  await expect(run('code', '--layout', 'linear', '--language', 'ada')).rejects.toThrow(
    'Allowed choices are python'
  )
})

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'layout-'))
  const save = (name: string, content: string | Uint8Array) => {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }

  it('a layout file maps and locates', async () => {
    const own = { name: 'own', rows: 'r:0', columns: 'tile:0 c:3', order: 'tile r c' }
    const file = save('own.json', JSON.stringify(own))
    const flags = ['--layout-file', file, '--rows', '2', '--cols', '6']
    const { stdout } = await run('map', ...flags, '--json')
    expect(JSON.parse(stdout)).toEqual({ packed: [0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11] })
    expect((await run('locate', ...flags, '--row', '1', '--col', '4')).stdout).toContain('byte 10')
    expect((await run('code', '--layout-file', file)).stdout).toContain('row_tiles')
  })

  it('refuses missing files, broken layouts, and two layouts at once', async () => {
    await expect(run('code', '--layout-file', join(folder, 'none.json'))).rejects.toThrow(
      'none.json does not exist'
    )
    const broken = save('broken.json', '{')
    const flags = ['--layout-file', broken, '--rows', '2', '--cols', '6']
    await expect(run('map', ...flags)).rejects.toThrow('broken.json is no usable layout')
    await expect(run('map', ...flags, '--layout', 'linear')).rejects.toThrow('Name one layout')
  })
})

it("tma prints a tile's tensor maps and what TMA refuses; locate numbers CDNA4's operations", async () => {
  const { stdout } = await run('tma', '--format', 'mxfp4', '--tile', '128x256x256')
  expect(stdout).toMatch(/^A +uint8 +shape \(8192, 4096\).* box \(128, 128\) {2}swizzle 128B$/m)
  expect(stdout).toMatch(/^scales of B +uint8 .* box \(1, 2, 2, 2, 256\) {2}swizzle none$/m)
  const refused = await run('tma', '--format', 'mxfp8', '-N', '100', '--out', 'f16')
  expect(refused.stdout).toContain('TMA refuses it: It has a row of 200 bytes')
  await expect(run('tma', '--format', 'mxfp8', '--tile', '128x128')).rejects.toThrow(
    '--tile 128x128: a tile is MxNxK, such as 128x256x128.'
  )
  const at = ['--layout', 'cdna4_mfma16', '--rows', '64', '--cols', '16', '--row', '21']
  expect((await run('locate', ...at, '--col', '5')).stdout).toContain(
    'byte 2 of its 32-bit load  operation 1: rows 0 to 15, k 128 to 255'
  )
})
