import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { diagnoseGcn, parseGcn } from '@shared/machineCode/gcn'
import { resourceText } from '@shared/machineCode/resourceText'
import { checkAmdBuild } from '../../../scripts/kernelsCheck/check'
import { findClang, findLinker } from '../../../src-main/engine/machineCode/amdCode'
import { listBuilds } from '../../../src-main/engine/machineCode/builds'
import { machineCodeOf } from '../../../src-main/engine/machineCode/machineCode'

const kernels = 'resources/kernels/hip'

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
const linker = findLinker()
if (!clang.path) console.log('Kernels for AMD GPUs are not compiled here: no clang++ 20 or later.')
else if (!linker.path) console.log('Kernels for AMD GPUs are not linked here: no ld.lld.')

describe('a kernel for an AMD GPU, compiled to be looked at', () => {
  const wanted = { kernel: 'mfma-scale-16', architecture: 'gfx950', format: 'mxfp8', output: 'f16' }

  it('without a clang is answered with what to install', async () => {
    await expect(
      machineCodeOf([kernels], wanted, { HIPCLANG: '/nowhere/clang++' })
    ).rejects.toMatchObject({
      kind: 'unavailable',
      message:
        'clang++ 20 or later was not found (looked at: HIPCLANG=/nowhere/clang++): install clang-22 or ROCm 7, or set HIPCLANG to its path.'
    })
  })

  it.skipIf(!clang.path)(
    'has its instructions with source lines, registers, LDS and what limits its waves',
    async () => {
      const found = await machineCodeOf([kernels], wanted)
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
  it.each(['mfma-scale-16.gfx950.mxfp4.f16', 'mfma-scale-linear.gfx950.mxfp6_e2m3.f16'])(
    '%s compiles to the instruction, without scratch',
    async (name) => {
      const build = listBuilds(kernels).find((one) => one.name === name)!
      expect(await checkAmdBuild(build, kernels, clang.path!, linker.path)).toEqual([])
    }
  )

  it.skipIf(!linker.path)('a function that is nowhere is found by the linker', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'blockscope-amd-'))
    writeFileSync(
      join(folder, 'lost.hip'),
      `__attribute__((device)) float lost(float);
      extern "C" __attribute__((global)) void multiply(float* c) { *c = lost(*c); }\n`
    )
    const [build] = listBuilds(kernels)
    const lost = { ...build!, source: 'lost.hip', options: [] }
    const told = (await checkAmdBuild(lost, folder, clang.path!, linker.path)).join()
    expect(told).toMatch(/cannot be linked:[\s\S]*lost/)
    rmSync(folder, { recursive: true })
  })

  it('a source that does not compile is told in the words of the compiler', async () => {
    const isEdge = (option: string) => option.startsWith('-DEDGE')
    const build = listBuilds(kernels).find(({ options }) => options.some(isEdge))!
    const broken = { ...build, options: build.options.filter((one) => !isEdge(one)) }
    expect((await checkAmdBuild(broken, kernels, clang.path!)).join()).toMatch(
      /does not compile:[\s\S]*EDGE/
    )
  })
})
