import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { numberFormats } from '@shared/formats/numberFormat'
import { diagnoseLog } from '@shared/machineCode/diagnose'
import { diagnoseGcn, parseGcn } from '@shared/machineCode/gcn'
import { resourceText } from '@shared/machineCode/resourceText'
import { resourcesIn } from '@shared/machineCode/ptxasLog'
import {
  countInstructions,
  findInMainLoops,
  parseSass,
  scalesInMainLoop
} from '@shared/machineCode/sass'
import { checkAmdBuild, checkBuild } from '../../../scripts/kernelsCheck/check'
import { findClang } from '../../../src-main/engine/machineCode/amdCode'
import { listBuilds } from '../../../src-main/engine/machineCode/builds'
import { findBuild, machineCodeOf } from '../../../src-main/engine/machineCode/machineCode'
import { findTool } from '../../../src-main/engine/machineCode/tools'

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
    .flatMap(findInMainLoops)
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
      nvdisasm.path
    )

  it('passes as it is', async () => {
    expect(await check(kernels)).toEqual([])
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
    const said = (await check(folder)).join('\n')
    expect(said).toMatch(
      /multiply at \w+: MEMBAR\S*GPU, a fence of device scope, inside a main loop/
    )
    expect(said).toMatch(/CCTL\.IVALL/)
  })
})

describe.skipIf(!nvcc.path)('the kernels of block-scaled instructions', () => {
  const check = (name: string) =>
    checkBuild(
      listBuilds(kernels).find((build) => build.name === name)!,
      kernels,
      nvcc.path!,
      nvdisasm.path
    )

  // Of sm_90a, which every nvdisasm knows.
  it('their emulation compiles for other GPUs', async () => {
    expect(await check('mma-block-scale-emulated.sm_90.nvfp4.f16')).toEqual([])
  })

  it('compile for their own, where an instruction that scales is in the main loop', async () => {
    const said = await check('mma-block-scale.sm_120a.mxfp6_e2m3.f16')
    said.push(...(await check('tcgen05.sm_100a.mxfp6_e2m3.f16')))
    // Before CUDA 13 nvdisasm does not know sm_120.
    expect(said.filter((text) => !text.includes('cannot be disassembled'))).toEqual([])
  })
})

describe('assembly of AMD GPUs', () => {
  const assembly = (loop: string[], spilled = 0, scratch = 0) =>
    [
      '\t.text',
      'multiply:',
      '.LBB0_1:',
      ...[...loop, 's_cbranch_scc1 .LBB0_1', 's_endpgm'].map(
        (line) => `\t${line} ; encoding: [0x00,0x00,0x00,0x00]`
      ),
      '\t.end_amdhsa_kernel',
      'amdhsa.kernels:',
      '  - .agpr_count:     140',
      '    .args:',
      '      - .name:           c',
      '        .offset:         0',
      '    .group_segment_fixed_size: 131072',
      '    .name:           multiply',
      `    .private_segment_fixed_size: ${scratch}`,
      '    .sgpr_count:     99',
      '    .vgpr_count:     396',
      `    .vgpr_spill_count: ${spilled}`,
      'amdhsa.target:   amdgcn-amd-amdhsa--gfx950'
    ].join('\n')
  const scaled = 'v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3], v20, v21'
  const copy = 'global_load_lds_dwordx4 v[4:5], off'
  const wrongIn = (...args: Parameters<typeof assembly>) =>
    parseGcn(assembly(...args)).flatMap((kernel) =>
      diagnoseGcn(kernel, true).map(({ text }) => text)
    )

  it('says what a kernel takes', () => {
    expect(parseGcn(assembly([scaled, copy]))).toMatchObject([
      {
        name: 'multiply',
        registers: 396,
        accumulationRegisters: 140,
        ldsBytes: 131072,
        mainLoops: [
          [
            { opcode: 'v_mfma_scale_f32_16x16x128_f8f6f4', offset: 0 },
            { text: copy, offset: 4 },
            { opcode: 's_cbranch_scc1', offset: 8 }
          ]
        ]
      }
    ])
    expect(wrongIn([scaled, copy])).toEqual([])
  })

  it.each([
    ['multiply spills 3 vector registers', [scaled, copy], 3, 0],
    ['multiply takes 16 bytes of scratch memory a lane', [scaled, copy], 0, 16],
    [
      'no main loop has a block-scaled matrix instruction',
      [copy, 'v_mfma_f32_16x16x32_bf16'],
      0,
      0
    ],
    ['a main loop has no copy from global memory to LDS', [scaled], 0, 0],
    [
      'multiply at 8: v_readlane_b32, a spilled scalar register, inside a main loop',
      [scaled, copy, 'v_readlane_b32 s4, v1, 2'],
      0,
      0
    ],
    [
      'multiply at 8: scratch_load_dword, scratch memory (a spilled register or an array indexed at run time), inside a main loop',
      [scaled, copy, 'scratch_load_dword v1, off, s32'],
      0,
      0
    ]
  ])('%s', (sentence, loop, spilled, scratch) => {
    expect(wrongIn(loop, spilled, scratch)).toEqual([sentence])
  })

  it('text that is none is an error, not a pass', () => {
    expect(() => parseGcn('clang: error')).toThrow('no kernel')
  })
})

const clang = findClang()
if (!clang.path) console.log('Kernels for AMD GPUs are not compiled here: no clang++ 20 or later.')

describe('a kernel for an AMD GPU, compiled to be looked at', () => {
  const folder = 'resources/kernels/hip'
  const wanted = { kernel: 'mfma-scale-16', architecture: 'gfx950', format: 'mxfp8', output: 'f16' }

  it('without a clang is answered with what to install', async () => {
    await expect(
      machineCodeOf([folder], wanted, { HIPCLANG: '/nowhere/clang++' })
    ).rejects.toMatchObject({
      kind: 'unavailable',
      message:
        'clang++ 20 or later was not found (looked at: HIPCLANG=/nowhere/clang++): install clang-22 or ROCm 7, or set HIPCLANG to its path.'
    })
  })

  it.skipIf(!clang.path)(
    'has its instructions with source lines, registers, LDS and what limits its waves',
    async () => {
      const found = await machineCodeOf([folder], wanted)
      expect(found.warnings).toEqual([])
      const [resources] = found.resources
      // Two stages of a 256 x 256 x 128 tile of bytes; 512 vector registers a lane are there.
      expect(resources).toMatchObject({ stackBytes: 0, spilledBytes: 0, sharedBytes: 131_072 })
      expect(resources!.registers).toBeGreaterThan(256)
      expect(resources!.registers).toBeLessThanOrEqual(512)
      expect(resources!.occupancy).toEqual({
        threads: 256,
        waves: 4,
        of: 32,
        limiters: ['registers', 'shared memory']
      })
      expect(resourceText(resources!)).toMatch(
        /^256 VGPRs and \d+ AGPRs, \d+ SGPRs, 0 B spilled, 0 B of scratch a lane, 128 KiB of static LDS, 4 of 32 waves a compute unit with workgroups of 256, limited by vector registers and LDS$/
      )
      const [{ counts, instructions }] = found.functions as [(typeof found.functions)[number]]
      const counted = (name: string) => counts.find((one) => one.name === name)?.count
      expect(counted('v_mfma_scale')).toBeGreaterThan(0)
      expect(counted('global_load_lds')).toBeGreaterThan(0)
      expect(counted('scratch_')).toBe(0)
      const copy = instructions.find(({ text }) => text.startsWith('global_load_lds'))!
      const source = found.sources.find(({ path }) => path === copy.file)!
      expect(source.text.split('\n')[copy.line! - 1]).toContain('__builtin_amdgcn_global_load_lds')
      // Instructions of GCN take 4, 8, 12 or 16 bytes.
      instructions.slice(1).forEach(({ offset }, i) => {
        expect([4, 8, 12, 16]).toContain(offset - instructions[i]!.offset)
      })
    }
  )
})

describe.skipIf(!clang.path)('the kernels of scaled MFMA', () => {
  const folder = 'resources/kernels/hip'
  it.each(['mfma-scale-16.gfx950.mxfp4.f16', 'mfma-scale-linear.gfx950.mxfp6_e2m3.f16'])(
    '%s compiles to the instruction, without scratch',
    async (name) => {
      const build = listBuilds(folder).find((one) => one.name === name)!
      expect(await checkAmdBuild(build, folder, clang.path!)).toEqual([])
    }
  )

  it('a source that does not compile is told in the words of the compiler', async () => {
    const build = listBuilds(folder)[0]!
    const broken = { ...build, options: build.options.filter((one) => !one.startsWith('-DEDGE')) }
    expect((await checkAmdBuild(broken, folder, clang.path!)).join()).toMatch(
      /does not compile:[\s\S]*EDGE/
    )
  })
})

describe('tools', () => {
  it('what a variable names is used or said to be missing; nothing else is tried', () => {
    const { path, lookedAt } = findTool('nvcc', 'NVCC', { NVCC: '/nowhere/nvcc' })
    expect(path).toBeUndefined()
    expect(lookedAt).toEqual(['NVCC=/nowhere/nvcc'])
  })
})
