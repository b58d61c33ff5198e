import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { numberFormats } from '@shared/formats/numberFormat'
import { checkBuild, checkByNvrtc } from '../../../scripts/kernelsCheck/check'
import { listBuilds } from '../../../src-main/engine/machineCode/builds'
import { findBuild, machineCodeOf } from '../../../src-main/engine/machineCode/machineCode'
import { findTool } from '../../../src-main/engine/machineCode/tools'
import { loadTestAddon } from '../../support/addon'

const kernels = 'resources/kernels/cuda'
const places: string[] = []
function temporary(): string {
  const place = mkdtempSync(join(tmpdir(), 'blockscope-kernels-check-'))
  places.push(place)
  return place
}
afterAll(() => places.forEach((place) => rmSync(place, { recursive: true })))

describe('builds', () => {
  it('take formats from the registry: the macros name elements, scale and block', () => {
    const build = listBuilds(kernels).find(({ name }) => name === 'mma.sm_90.mixed.f16')!
    const e4m3 = Object.keys(numberFormats).indexOf('e4m3')
    expect(build.options).toEqual(
      expect.arrayContaining([`-DA_FORMAT=${e4m3}`, '-DB_FORMAT=0', '-DSCALE_BLOCK=32'])
    )
  })

  it("one is found by kernel, the device's architecture, format and output; what there is is named", () => {
    const wanted = { kernel: 'wgmma', architecture: 'sm_90', format: 'nvfp4', output: 'f32' }
    expect(findBuild([kernels], wanted).build.name).toBe('wgmma.sm_90a.nvfp4.f32')
    expect(() => findBuild([kernels], { ...wanted, architecture: 'sm_70' })).toThrow(
      'wgmma is not built for the target sm_70. It is for: sm_90.'
    )
    expect(() => findBuild([kernels], { ...wanted, kernel: 'wgma' })).toThrow(/wgmma/)
  })

  it('without a compiler there is a sentence', async () => {
    const wanted = { kernel: 'wgmma', architecture: '', format: '', output: 'f16' }
    const nowhere = { NVCC: '/nowhere/nvcc' }
    await expect(machineCodeOf([kernels], wanted, nowhere)).rejects.toThrow(
      /^nvcc was not found \(looked at: NVCC=\/nowhere\/nvcc\)/
    )
  })

  it('of groups are those that a row does not refuse in a format', () => {
    const grouped = listBuilds(kernels)
      .filter(({ kernel, name }) => kernel === 'decode-fp8' && name.endsWith('.grouped'))
      .map(({ format }) => format)
    expect(new Set(grouped)).toEqual(new Set(['mxfp4']))
  })

  it('a folder without a manifest is named', () => {
    expect(() => listBuilds('/nowhere')).toThrow(/\/nowhere has no manifest.json/)
  })
})

const nvcc = findTool('nvcc', 'NVCC')
const nvdisasm = findTool('nvdisasm', 'NVDISASM')
const lacking = [nvcc.path ? '' : 'nvcc', nvdisasm.path ? '' : 'nvdisasm']
  .filter(Boolean)
  .join(' and ')
if (lacking) console.log(`Kernels are not compiled and disassembled here: ${lacking} not found.`)

describe.skipIf(!nvcc.path)('a compiled kernel', () => {
  it('has its registers; its machine code with source lines, or why there is none', async () => {
    const wanted = { kernel: 'wgmma', architecture: 'sm_90', format: 'mxfp4', output: 'f16' }
    const found = await machineCodeOf([kernels], wanted)
    const main = found.resources.find(({ name }) => name === 'multiply')!
    expect(main.registers).toBeGreaterThan(100)
    expect(found.warnings).toEqual([])
    if (!nvdisasm.path) return expect(found.withoutCode).toMatch(/^nvdisasm was not found/)
    const code = found.functions.find(({ name }) => name === 'multiply')!
    expect(code.counts.find(({ name }) => name === 'HGMMA')!.count).toBeGreaterThan(0)
    const product = code.instructions.find(({ text }) => text.startsWith('HGMMA'))!
    const source = found.sources.find(({ path }) => path === product.file)!
    expect(source.text.split('\n')[product.line! - 1]).toMatch(/\S/)
  })
})

describe.skipIf(lacking)('the fp8 product', () => {
  const check = (folder: string) =>
    checkBuild(
      listBuilds(folder).find(({ name }) => name === 'wgmma-fp8-p128.sm_90a.mxfp4.f16')!,
      folder,
      nvcc.path!,
      nvdisasm
    )

  it('passes as it is', async () => {
    expect(await check(kernels)).toEqual({ wrong: [], withoutCode: '' })
  })

  it('fails with the cluster scopes that its barriers once had', async () => {
    const folder = temporary()
    cpSync(kernels, folder, { recursive: true })
    const header = join(folder, 'common/pipeline.cuh')
    const now = readFileSync(header, 'utf8')
    const once = now
      .replace('mbarrier.arrive.shared::cluster', 'mbarrier.arrive.release.cluster.shared::cluster')
      .replace('try_wait.parity.shared::cta', 'try_wait.parity.acquire.cluster.shared::cta')
    expect(once.length).toBe(now.length + '.release.cluster.acquire.cluster'.length)
    writeFileSync(header, once)
    const said = (await check(folder)).wrong.join('\n')
    expect(said).toMatch(
      /multiply at \w+: MEMBAR\S*GPU, a fence of device scope, inside a main loop/
    )
    expect(said).toMatch(/CCTL\.IVALL/)
  })

  it('fails where a launch that starts early does not wait', async () => {
    const folder = temporary()
    cpSync(kernels, folder, { recursive: true })
    const source = join(folder, 'wgmma_fp8.cu')
    const now = readFileSync(source, 'utf8')
    const once = now.replaceAll('  waitForPredecessor();\n', '')
    expect(once).not.toBe(now)
    writeFileSync(source, once)
    expect((await check(folder)).wrong).toEqual(
      ['multiplyAnyRows', 'multiply'].map(
        (name) => `${name} is launched as dependent and does not wait (griddepcontrol.wait)`
      )
    )
  })
})

describe.skipIf(lacking)('copies', () => {
  it('by a thread that the assembler does not know to be one are refused', async () => {
    const folder = temporary()
    cpSync(kernels, folder, { recursive: true })
    const header = join(folder, 'common/gemm.cuh')
    const now = readFileSync(header, 'utf8')
    const once = now.replace('threadIdx.x < 32 && electOne()', 'threadIdx.x == 0')
    expect(once).not.toBe(now)
    writeFileSync(header, once)
    const build = listBuilds(folder).find(({ name }) => name === 'wgmma-fp8-p128.sm_90a.mxfp4.f16')!
    const { wrong: said } = await checkBuild(build, folder, nvcc.path!, nvdisasm)
    expect(said.length).toBeGreaterThan(1)
    for (const sentence of said)
      expect(sentence).toMatch(
        /^multiply\w* at \w+: UTMALDG\.2D\S*, in a loop over lanes: elect.sync/
      )
  })
})

describe.skipIf(!nvcc.path)('a disassembler that is too old', () => {
  it('costs the machine code, not the check', async () => {
    const old = join(temporary(), 'nvdisasm')
    // As that of CUDA 12.8 says it of sm_103.
    const words = "nvdisasm fatal   : Cannot decode architecture 'SM103'"
    writeFileSync(old, `#!/bin/sh\necho "${words}" >&2\nexit 1\n`, { mode: 0o755 })
    const timing = listBuilds(kernels).find(({ kernel }) => kernel === 'support-timing')!
    const tool = { path: old, lookedAt: [] }
    const { wrong, withoutCode } = await checkBuild(timing, kernels, nvcc.path!, tool)
    expect(wrong).toEqual([])
    expect(withoutCode).toMatch(
      `${old} does not know ${timing.target}: install a newer CUDA toolkit`
    )
    const wanted = { kernel: 'wgmma', architecture: '', format: 'mxfp4', output: 'f16' }
    const shown = await machineCodeOf([kernels], wanted, { ...process.env, NVDISASM: old })
    expect(shown.resources.length).toBeGreaterThan(0)
    expect(shown.withoutCode).toMatch(/does not know sm_90a/)
  })
})

describe.skipIf(!nvcc.path)('the kernels of block-scaled instructions', () => {
  const check = (name: string) =>
    checkBuild(
      listBuilds(kernels).find((build) => build.name === name)!,
      kernels,
      nvcc.path!,
      nvdisasm
    )

  // Of sm_90a, which every nvdisasm knows.
  it('their emulation compiles for other GPUs', async () => {
    for (const name of [
      'mma-block-scale-emulated.sm_90.nvfp4.f16',
      'tcgen05-pair-emulated.sm_90.mixed.f16'
    ])
      expect((await check(name)).wrong, name).toEqual([])
  })

  it('compile for their own, where an instruction that scales is in the main loop', async () => {
    for (const name of [
      'mma-block-scale.sm_120a.mxfp6_e2m3.f16',
      'tcgen05.sm_100a.mxfp6_e2m3.f16',
      'tcgen05-pair.sm_103a.nvfp4.f16'
    ])
      expect((await check(name)).wrong, name).toEqual([])
  })
})

describe('NVRTC', () => {
  const addon = loadTestAddon()
  const timing = listBuilds(kernels).find(({ name }) => name === 'support-timing.sm_90.mxfp4.f16')!
  const withHostFunction = () => {
    const folder = temporary()
    cpSync(kernels, folder, { recursive: true })
    const file = join(folder, timing.source)
    writeFileSync(file, `${readFileSync(file, 'utf8')}\nint ofTheHost() { return 1; }\n`)
    return folder
  }

  it('refuses what nvcc takes; where it is not found, that is what is said', async () => {
    const { libraries } = await addon.detect()
    const nvrtc = libraries.find(({ name }) => name === 'NVRTC')!
    if (!nvrtc.found) {
      console.log(`Kernels are not compiled by NVRTC here: ${nvrtc.reason}`)
      const said = await checkByNvrtc(addon, timing, kernels)
      return expect(said).toEqual([expect.stringContaining(nvrtc.reason)])
    }
    expect(await checkByNvrtc(addon, timing, kernels)).toEqual([])
    expect(await checkByNvrtc(addon, timing, withHostFunction())).toEqual([
      expect.stringMatching(/^by NVRTC: .*does not compile for sm_90:[^]*ofTheHost/)
    ])
  })

  it.skipIf(!nvcc.path)('nvcc takes a function of the host', async () => {
    const without = findTool('nvdisasm', 'NVDISASM', { NVDISASM: '/nowhere/nvdisasm' })
    const checked = await checkBuild(timing, withHostFunction(), nvcc.path!, without)
    expect(checked.wrong).toEqual([])
    expect(checked.withoutCode).toMatch(/^nvdisasm was not found \(looked at: NVDISASM=/)
  })
})

describe('tools', () => {
  it('what a variable names is used or said to be missing; nothing else is tried', () => {
    const { path, lookedAt } = findTool('nvcc', 'NVCC', { NVCC: '/nowhere/nvcc' })
    expect(path).toBeUndefined()
    expect(lookedAt).toEqual(['NVCC=/nowhere/nvcc'])
  })
})
