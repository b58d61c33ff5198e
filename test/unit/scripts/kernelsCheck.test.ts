import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { numberFormats } from '@shared/formats/numberFormat'
import { diagnoseLog } from '@shared/machineCode/diagnose'
import { resourcesIn } from '@shared/machineCode/ptxasLog'
import {
  countInstructions,
  findInLoops,
  parseSass,
  scalesInMainLoop
} from '@shared/machineCode/sass'
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

/** `lines` as nvdisasm would print them; a line that ends in a colon is a label. */
function sass(...lines: string[]): string {
  let offset = 0
  const text = lines.map((line) => {
    if (line.endsWith(':')) return line
    const at = (offset++ * 16).toString(16).padStart(4, '0')
    return `        /*${at}*/                   ${line} ;`
  })
  return ['.text.multiply:', ...text].join('\n')
}
const opcodesFoundIn = (...lines: string[]) =>
  parseSass(sass(...lines))
    .flatMap(findInLoops)
    .map(({ opcode }) => opcode)

describe('machine code', () => {
  it('a fence, local memory or an invalidated cache counts inside a main loop only', () => {
    const found = opcodesFoundIn(
      'MEMBAR.ALL.GPU',
      'STL [R1], R2',
      '.L_x_0:',
      'SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R3',
      'QGMMA.64x128x32.F32.E5M2.E5M2 R24, gdesc[UR8], R24',
      'MEMBAR.ALL.CTA',
      'MEMBAR.ALL.GPU',
      'ERRBAR',
      'CCTL.IVALL',
      'LDL R4, [R1]',
      '@P1 BRA `(.L_x_0)',
      'LDL R5, [R1]',
      'EXIT'
    )
    expect(found).toEqual(['MEMBAR.ALL.GPU', 'ERRBAR', 'CCTL.IVALL', 'LDL'])
  })

  it('a stage is released behind all that was loaded from it, or behind a wait that leaves a product under way', () => {
    const found = (...lines: string[]) =>
      opcodesFoundIn(
        '.L_x_0:',
        'SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR8], R16',
        'LDSM.16.M88.4 R32, [R40]',
        'HMMA.16816.F32.BF16 R52, R52, R34, RZ',
        ...lines,
        '@P1 BRA `(.L_x_0)',
        'EXIT'
      )
    const release = '@!P0 SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR8+0x20], RZ'
    expect(found('LDS R20, [R68+UR7+0x4000]', release, 'FFMA R1, R20, R2, R1')).toEqual([
      'SYNCS.ARRIVE.TRANS64.A1T0'
    ])
    const remote = 'SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R3+URZ], RZ'
    expect(found('LDS.128 R20, [R68]', remote)).toEqual(['SYNCS.ARRIVE.TRANS64.RED.A1T0'])
    expect(found('LDS.128 R20, [R68]', 'FFMA R1, R23, R2, R1', remote)).toEqual([])
    expect(found('LDS R20, [R68]', 'STS [R60], R20', release)).toEqual([])
    expect(found('LDS R20, [R68]', 'MEMBAR.ALL.CTA', release)).toEqual([])
    // The last use of another stage's loads is a product that has ended.
    expect(found('LDS R20, [R68]', 'WARPGROUP.DEPBAR.LE gsb0, 0x1', release)).toEqual([])
    expect(found('LDS R20, [R68]', 'WARPGROUP.DEPBAR.LE gsb0, 0x0', release)).toEqual([
      'SYNCS.ARRIVE.TRANS64.A1T0'
    ])
    // An arrival that announces bytes is of who loads.
    expect(found('LDS R20, [R68]', 'SYNCS.ARRIVE.TRANS64 RZ, [UR7], R28')).toEqual([])
    // Around the loop: the load behind a release is under way at the next, unless it is used before.
    expect(found(release, 'LDS R20, [R68]')).toEqual(['SYNCS.ARRIVE.TRANS64.A1T0'])
    expect(found(release, 'LDS R20, [R68]', 'LOP3.LUT R4, R20, R5, RZ, 0xc0, !PT')).toEqual([])
  })

  it('the loop over tiles around the main loop may store and fence', () => {
    const found = opcodesFoundIn(
      '.L_x_0:',
      'IMAD.MOV.U32 R3, RZ, RZ, RZ',
      '.L_x_1:',
      'HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24',
      '@P1 BRA `(.L_x_1)',
      'MEMBAR.ALL.GPU',
      '@P2 BRA `(.L_x_0)',
      'EXIT'
    )
    expect(found).toEqual([])
  })

  it('a wait that the compiler put behind the exit still belongs to the loop it returns to', () => {
    const found = opcodesFoundIn(
      '.L_x_0:',
      'SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R3',
      '@!P0 BRA `(.L_x_2)',
      '.L_x_1:',
      'UTMALDG.2D [UR8], [UR4]',
      '@P1 BRA `(.L_x_0)',
      'EXIT',
      '.L_x_2:',
      'MEMBAR.SC.SYS',
      'BRA `(.L_x_1)'
    )
    expect(found).toEqual(['MEMBAR.SC.SYS'])
  })

  it('a load or store by the copy engine in a loop over lanes counts; the loop that loads is the one around it', () => {
    const found = opcodesFoundIn(
      '.L_x_0:',
      'SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R3',
      '.L_x_1:',
      '@P0 ELECT P3, URZ, PT',
      'UTMALDG.2D.MULTICAST [UR8], [UR4], UR12',
      '@P3 PLOP3.LUT P0, PT, P3, PT, PT, 0x8, 0x0',
      '@P0 BRA.U.ANY `(.L_x_1)',
      'LDL R4, [R1]',
      'UTMALDG.2D [UR8], [UR4]',
      '@P1 BRA `(.L_x_0)',
      '.L_x_2:',
      'UTMASTG.2D [UR8], [UR6]',
      '@P1 BRA.U.ANY `(.L_x_2)',
      'EXIT'
    )
    expect(found).toEqual(['UTMALDG.2D.MULTICAST', 'LDL', 'UTMASTG.2D'])
  })

  it('knows the source line that each instruction was made of, inlined code by its own', () => {
    const text = [
      '.text.multiply:',
      '        //## File "/k/wgmma.cu", line 218 inlined at "/k/wgmma.cu", line 40',
      '        /*0000*/                   HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24 ;',
      '        //## File "/k/common/pipeline.cuh", line 12',
      '        /*0010*/              @!P0 MEMBAR.ALL.GPU ;',
      '        /*0020*/                   EXIT ;'
    ].join('\n')
    const [found] = parseSass(text)
    expect(found!.instructions.map(({ guard, file, line }) => [guard, file, line])).toEqual([
      ['', '/k/wgmma.cu', 218],
      ['@!P0', '/k/common/pipeline.cuh', 12],
      ['', '/k/common/pipeline.cuh', 12]
    ])
    expect(countInstructions(found!)).toEqual([
      { name: 'HGMMA', count: 1 },
      { name: 'MEMBAR', count: 1 },
      { name: 'LDL / STL', count: 0 }
    ])
  })

  it('a block-scaled matrix instruction counts inside a main loop only', () => {
    const scales = (...lines: string[]) => parseSass(sass(...lines)).some(scalesInMainLoop)
    const loop = (opcode: string) => ['.L_x_0:', opcode, '@P1 BRA `(.L_x_0)', 'EXIT']
    expect(scales(...loop('OMMA.SF.16864.F32.E2M1.E2M1.E8 R8, R4, R2, R8, R1, R0, URZ'))).toBe(true)
    expect(scales(...loop('QMMA.SF.16832.F32.E4M3.E4M3.E8 R8, R4, R2, R8, R1, R0, URZ'))).toBe(true)
    expect(scales(...loop('QMMA.16832.F32.E4M3.E4M3 R8, R4, R2, R8'))).toBe(false)
    expect(scales('QMMA.SF.16832.F32.E4M3.E4M3.E8 R8, R4', ...loop('HMMA.16816 R0, R1'))).toBe(
      false
    )
  })

  it('text that is no disassembly is an error, not a pass', () => {
    expect(() => parseSass('cuobjdump fatal: no file\n')).toThrow(/no function/)
  })
})

describe('what ptxas says', () => {
  it('spilled bytes by function', () => {
    const log = `ptxas info    : Function properties for multiply
    24 bytes stack frame, 20 bytes spill stores, 28 bytes spill loads
ptxas info    : Function properties for encode
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads`
    expect(resourcesIn(log).map(({ name, spilledBytes }) => [name, spilledBytes])).toEqual([
      ['multiply', 28],
      ['encode', 0]
    ])
    expect(diagnoseLog(log)).toEqual([
      { text: 'multiply spills 28 bytes of registers', function: 'multiply' }
    ])
  })

  it('registers and static shared memory', () => {
    const log = `ptxas info    : Function properties for multiply
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 8 bytes cumulative stack size, 1024 bytes smem`
    expect(resourcesIn(log)).toEqual([
      { name: 'multiply', registers: 168, stackBytes: 8, spilledBytes: 0, sharedBytes: 1024 }
    ])
  })

  it('serialised wgmma is told in its own words', () => {
    const log =
      'ptxas info : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized'
    expect(diagnoseLog(`a line\n${log}`)).toEqual([{ text: log }])
  })
})

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
    const build = listBuilds(folder).find(({ name }) => name === 'wgmma.sm_90a.mxfp4.f16')!
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
