/** Machine code as nvdisasm prints it: what may not stand in a main loop. */
import { expect, it, describe } from 'vitest'
import {
  countInstructions,
  findInLoops,
  parseSass,
  scalesInMainLoop
} from '@shared/machineCode/sass'

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
