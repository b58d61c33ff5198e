import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readKernelManifests } from '../../../../src-main/engine/kernelManifests'
import { runInProcess } from '../../../support/runInProcess'

const listed = async () => {
  const { stdout } = await runInProcess(['kernels', 'list', '--json'])
  return JSON.parse(stdout) as { id: string; formats: string[] }[]
}

describe('kernels list', () => {
  it('names the formats that a kernel computes, and none that it says why it does not', async () => {
    const rows = new Map((await listed()).map(({ id, formats }) => [id, formats]))
    expect(rows.get('wgmma-fp8-p128')).toEqual(['mxfp4'])
    const { sources } = readKernelManifests(
      ['cuda', 'hip'].map((name) => join('resources', 'kernels', name))
    )
    const refused = sources.flatMap(({ id, formats }) =>
      formats.filter(({ level }) => level === 'unavailable').map(({ format }) => [id, format])
    )
    expect(refused).toContainEqual(['mfma-scale-16', 'nvfp4'])
    for (const [id, format] of refused) expect(rows.get(id!)).not.toContain(format)
  })

  it('counts pairs of elements that have no short name', async () => {
    const { stdout } = await runInProcess(['kernels', 'list'])
    const line = stdout.split('\n').find((one) => one.startsWith('mfma-scale-16 '))
    expect(line).toMatch(/ gfx950 +mxfp4, .*mixed, 18 other pairs$/)
  })
})
