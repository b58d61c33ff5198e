/**
 * A machine with a GeForce RTX 5090 and an Instinct MI355X, as stand-ins of both drivers tell them: what the owner of such a
 * card reads first. No kernel runs here.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Detection } from '@shared/contract/devices'
import { runInProcess } from '../../support/runInProcess'
import { buildNewCards, newCards } from './newCards'

let folder: string
const environment = () => ({ ...newCards(folder), BLOCKSCOPE_STORE: join(folder, 'store') })

describe.skipIf(process.platform !== 'linux')('a new card of each maker', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'blockscope-cards-'))
    buildNewCards(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  async function levels(device: string): Promise<Map<string, string>> {
    const { stdout } = await runInProcess(['devices', '--json'], environment())
    const { devices } = JSON.parse(stdout) as Detection
    const { kernels } = devices.find(({ id }) => id === device)!
    return new Map(
      kernels.flatMap(({ id, capabilities }) =>
        capabilities.map(({ format, level, reason }) => [
          `${id} ${format}`,
          level === 'unavailable' ? reason : level
        ])
      )
    )
  }

  it('RTX 5090: its own block-scaled instruction is native, others say what they are written for', async () => {
    const found = await levels('cuda:0')
    for (const format of ['mxfp4', 'nvfp4', 'mxfp8', 'mixed', 'mxfp6_e2m3'])
      expect(found.get(`mma-block-scale ${format}`)).toBe('native')
    // kind::mxf4 takes e8m0 per 32 and ue4m3 per 16 alone.
    expect(found.get('mma-block-scale mxfp4_b16')).not.toBe('native')
    expect(found.get('simt mxfp4')).toBe('exact')
    expect(found.get('wgmma mxfp4')).toBe('Written for sm_90a; this device is sm_120.')
    for (const kernel of ['tcgen05', 'tcgen05-pair'])
      expect(found.get(`${kernel} mxfp4`)).toBe(
        'Written for sm_100a, sm_103a, sm_110a; this device is sm_120.'
      )
  })

  it('MI355X: scaled MFMA is native for e8m0 per 32, and says why for the rest', async () => {
    const found = await levels('hip:0')
    for (const kernel of ['mfma-scale-16', 'mfma-scale-32', 'mfma-scale-linear']) {
      for (const format of ['mxfp4', 'mxfp6_e2m3', 'mxfp6_e3m2', 'mxfp8', 'mixed'])
        expect(found.get(`${kernel} ${format}`)).toBe('native')
      expect(found.get(`${kernel} nvfp4`)).toBe("gfx950's instruction takes e8m0 per 32 alone.")
      expect(found.get(`${kernel} w4a16_mxfp4`)).toMatch(/bf16 activations are none/)
    }
  })

  it('devices says it in words: both cards, their figures, what multiplies natively', async () => {
    const { stdout, code } = await runInProcess(['devices'], environment())
    expect(code).toBe(0)
    const said = stdout.replace(/\s+/g, ' ')
    expect(said).toMatch(/cuda:0 NVIDIA GeForce RTX 5090/)
    expect(said).toMatch(/hip:0 AMD Instinct MI355X/)
    expect(said).toMatch(/mfma-scale-16.*native/)
    expect(said).toMatch(/AMD SMI/)
  })

  it('doctor goes through all of it, and says of each format what went wrong', async () => {
    const report = join(folder, 'report.json')
    const words = ['doctor', '--device', 'cuda:0', '--output', report]
    const { stdout, code } = await runInProcess(words, environment())
    expect(code).toBe(1)
    expect(stdout).toContain('native mma-block-scale: 0 of 26 formats agree with the emulation')
    // The stand-in's compiler is there and compiles nothing.
    expect(stdout).toContain('mxfp6_e2m3: mma-block-scale: NVRTC failed: as told.')
    expect(stdout).toMatch(/Validation {2}0 of \d+ passed/)
  })
})
