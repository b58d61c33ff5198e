import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packScales } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import { register } from '../../../../src-main/cli/layout'
import { runCommand } from './runCommand'

const folder = mkdtempSync(join(tmpdir(), 'layout-pack-'))
const file = (name: string) => join(folder, name)
const save = (name: string, content: string | Uint8Array) => {
  writeFileSync(file(name), content)
  return file(name)
}
const run = (...argv: string[]) => runCommand(register, ['layout', ...argv])
const size = (rows: number, cols: number) => ['--rows', String(rows), '--cols', String(cols)]

const shape = { rows: 100, columns: 9 }
const linear = Uint8Array.from({ length: 900 }, (_, i) => (i * 37 + 5) & 255)
save('linear.bin', linear)
const mine = save(
  'mine.json',
  JSON.stringify({
    name: 'mine',
    rows: 'rowTile:0 row:16',
    columns: 'columnTile:0 column:2',
    order: 'columnTile rowTile column row'
  })
)

describe('layout pack and unpack', () => {
  it('a layout of the registry: the bytes that packScales gives, and back', async () => {
    const of = ['--layout', 'nvidia_32_4_4', ...size(100, 9)]
    const to = file('packed.bin')
    const { stdout } = await run('pack', ...of, '--linear', file('linear.bin'), '--out', to)
    const said = '100 x 9 scales in nvidia_32_4_4: 1536 bytes (padded to 128 x 12) written to'
    expect(stdout).toContain(said)
    const expected = packScales(findLayout('nvidia_32_4_4'), shape, linear)
    expect(new Uint8Array(readFileSync(to))).toEqual(expected)
    await run('unpack', ...of, '--packed', to, '--out', file('back.bin'))
    expect(new Uint8Array(readFileSync(file('back.bin')))).toEqual(linear)
  })

  it('a layout of a file: column tiles outermost, rows fastest, and padding filled', async () => {
    const of = ['--layout-file', mine, ...size(100, 9)]
    const to = file('mine.bin')
    const from = ['--linear', file('linear.bin'), '--fill', '127', '--out', to]
    await run('pack', ...of, ...from)
    const packed = readFileSync(to)
    expect(packed).toHaveLength(112 * 10)
    // Scale (row 37, column 5): column tile 2 of 112 rows, row tile 2, column 1 of the tile, row 5 of the tile.
    expect(packed[2 * 224 + 2 * 32 + 16 + 5]).toBe(linear[37 * 9 + 5])
    // Row 100 does not exist.
    expect(packed[6 * 32 + 4]).toBe(127)
    await run('unpack', ...of, '--packed', to, '--out', file('mine-back.bin'))
    expect(new Uint8Array(readFileSync(file('mine-back.bin')))).toEqual(linear)
  })

  it('a batch: each matrix is padded by itself', async () => {
    const of = ['--layout', 'nvidia_32_4_4', ...size(50, 9), '--batch', '2']
    const to = file('batch.bin')
    const { stdout } = await run('pack', ...of, '--linear', file('linear.bin'), '--out', to)
    expect(stdout).toContain('2 x 50 x 9 scales in nvidia_32_4_4: 3072 bytes (padded to 128 x 12)')
    const second = packScales(
      findLayout('nvidia_32_4_4'),
      { rows: 50, columns: 9 },
      linear.subarray(450)
    )
    expect(new Uint8Array(readFileSync(to)).subarray(1536)).toEqual(second)
    await run('unpack', ...of, '--packed', to, '--out', file('batch-back.bin'))
    expect(new Uint8Array(readFileSync(file('batch-back.bin')))).toEqual(linear)
    const three = ['--layout', 'linear', ...size(50, 9), '--batch', '3']
    const wrong = run('pack', ...three, '--linear', file('linear.bin'), '--out', file('no.bin'))
    await expect(wrong).rejects.toThrow(
      '3 x 50 x 9 scales take 1350. Check --rows, --cols and --batch.'
    )
  })

  it('a layout written out on the command line', async () => {
    const of = ['--layout', 'columnMajor = r:0 | c:0 | c r', ...size(100, 9)]
    await run('pack', ...of, '--linear', file('linear.bin'), '--out', file('column.bin'))
    expect(readFileSync(file('column.bin'))[5 * 100 + 37]).toBe(linear[37 * 9 + 5])
  })

  const bad = save('bad.json', '{"name": "bad", "rows": "r:0", "columns": "c:0", "order": "r"}')
  const huge = 'huge = a:0 b:65536 | c:0 d:65536 | a b c d'
  const out = ['--out', file('none.bin')]
  const from = ['--linear', file('linear.bin')]
  it.each([
    [['--layout', 'linear', ...size(100, 8), ...from], 'linear.bin has 900 bytes; 100 x 8 scales'],
    [['--layout', 'linear', ...size(1, 1), '--linear', file('no.bin')], 'no.bin does not exist'],
    [['--layout', 'linear', ...size(1, 1), '--linear', folder], 'is a folder; name a file'],
    [['--layout', 'spiral', ...size(100, 9), ...from], '"spiral" is no scale layout'],
    [['--layout', huge, ...size(100, 9), ...from], 'huge takes 4294967296 bytes'],
    [['--layout-file', bad, ...size(100, 9), ...from], 'bad.json is no usable layout'],
    [['--layout', 'linear', '--layout-file', mine, ...size(100, 9), ...from], 'Name one layout'],
    [[...size(100, 9), ...from], 'Name one layout'],
    [['--layout', 'linear', ...size(100, 9), ...from, '--fill', '256'], 'from 0 to 255']
  ])('pack refuses %j', async (argv, message) => {
    await expect(run('pack', ...argv, ...out)).rejects.toThrow(message)
    expect(existsSync(file('none.bin'))).toBe(false)
  })

  it('unpack says how many bytes the layout takes when the file has another size', async () => {
    const of = ['--layout', 'nvidia_32_4_4', ...size(100, 9)]
    await expect(run('unpack', ...of, '--packed', file('linear.bin'), ...out)).rejects.toThrow(
      'has 900 bytes; 100 x 9 scales in nvidia_32_4_4 (padded to 128 x 12) take 1536'
    )
  })

  it('a file that cannot be written leaves nothing behind', async () => {
    const argv = ['pack', '--layout', 'linear', ...size(100, 9), ...from]
    const before = readdirSync(folder)
    await expect(run(...argv, '--out', join(folder, 'no', 'x.bin'))).rejects.toThrow(
      'x.bin cannot be written'
    )
    await expect(run(...argv, '--out', folder)).rejects.toThrow('is a folder; name a file')
    expect(readdirSync(folder)).toEqual(before)
  })
})
