/** Operands by others (test/fixtures/golden), held in the ways that people hold them: each reads as the plain ones do. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readArrays, type ArrayFile } from '@shared/formats/arrayFiles'
import type { NamedArray } from '@shared/formats/npy'
import { elementPackings, findElementPacking, packElements } from '@shared/layouts/elementPacking'
import { packScales, viewCoordinates } from '@shared/layouts/layout'
import { findLayout, layouts } from '@shared/layouts/registry'
import { readOperands } from '@shared/operands/readOperands'

const golden = (name: string): ArrayFile => {
  const path = `test/fixtures/golden/gemm_${name}.safetensors`
  return readArrays(readFileSync(path), path, '')
}
const mxfp4 = golden('mxfp4_128x256x512')
const nvfp4 = golden('nvfp4_128x256x512')
const mixed = golden('mixed_128x256x512')
const mxfp6 = golden('mxfp6_e2m3_128x256x512')

type Change = (array: NamedArray) => NamedArray
/** The file with arrays changed; '' as the name of a new one leaves it out. */
function changed(file: ArrayFile, changes: Record<string, Change>, more = {}): ArrayFile {
  const arrays = file.arrays.map((array) => changes[array.name]?.(array) ?? array)
  return { ...file, arrays: arrays.filter(({ name }) => name !== ''), ...more }
}
const renamed = (name: string) => (array: NamedArray) => ({ ...array, name })
const leftOut = renamed('')
const bare = { metadata: {} }
const withoutReference = { c_f64: leftOut }

const packed =
  (packing = 'fp4_low_first', dtype = 'U8') =>
  (array: NamedArray): NamedArray => {
    const bytes = Uint8Array.from(packElements(findElementPacking(packing), array.bytes))
    const [rows, k] = array.shape as [number, number]
    return { ...array, dtype, bytes, shape: [rows, dtype === 'U8' ? bytes.length / rows : k] }
  }
const typed =
  (dtype: string): Change =>
  (array) => ({ ...array, dtype })
const both =
  (first: Change, second: Change): Change =>
  (array) =>
    second(first(array))

/** The scales in a layout, in the shape of one of its views; without one: (rows, columns) padded, or flat. */
const scalesIn =
  (name: string, viewName?: string): Change =>
  (array) => {
    const layout = findLayout(name)
    const [rows, columns] = array.shape as [number, number]
    const bytes = Uint8Array.from(packScales(layout, { rows, columns }, array.bytes))
    const view = layout.views.find((one) => one.name === viewName)
    const shape = view
      ? viewCoordinates(layout, { rows, columns }, view, 0, 0).shape
      : [bytes.length]
    return { ...array, bytes, shape }
  }

const scalesOf = (change: Change) => ({ a_scales: change, b_scales: change })
const codesOf = (change: Change) => ({ a_codes: change, b_codes: change })

const plainReads = new Map<ArrayFile, ReturnType<typeof readOperands>>()
function plainOf(file: ArrayFile): ReturnType<typeof readOperands> {
  const known = plainReads.get(file) ?? readOperands(file)
  plainReads.set(file, known)
  return known
}

function expectSame(file: ArrayFile, as: ArrayFile, said = {}): ReturnType<typeof readOperands> {
  const read = readOperands(file, { said })
  const plain = plainOf(as)
  expect(read.format.id).toBe(plain.format.id)
  for (const name of ['aCodes', 'bCodes', 'aScales', 'bScales'] as const)
    expect(Buffer.compare(read.operands[name], plain.operands[name]), name).toBe(0)
  return read
}

describe('codes', () => {
  it('one a byte is what a file without a word more holds', () => {
    const { as, notes } = expectSame(mxfp4, mxfp4)
    expect(as).toBeUndefined()
    expect(notes[0]).toMatch(
      /^A: 128 x 512 codes of e2m1 .* one a byte; .* are linear, as their shape says\.$/
    )
  })

  it('packed two a byte are told by their values and by the scales', () => {
    const { as, notes } = expectSame(changed(mxfp4, codesOf(packed())), mxfp4)
    expect(as).toMatchObject({ packings: ['fp4_low_first'], scaleLayoutA: 'linear' })
    expect(notes[1]).toContain('256 x 512 codes of e2m1 in "b_codes" (U8), packed as fp4_low_first')
  })

  it.each(elementPackings.filter(({ storageBits }) => storageBits === 4).map(({ name }) => name))(
    'in the order %s, where it is named',
    (name) => {
      expectSame(changed(mxfp4, codesOf(packed(name))), mxfp4, { packings: [name] })
    }
  )

  it.each(['fp6_dense', 'fp6_align16'])('of fp6 as %s', (name) => {
    expectSame(changed(mxfp6, codesOf(packed(name))), mxfp6, { packings: [name] })
  })

  it('of fp6 without gaps need no name', () => {
    expectSame(changed(mxfp6, codesOf(packed('fp6_dense'))), mxfp6)
  })
})

describe('dtypes', () => {
  it('of torch and safetensors say the format where there is no metadata', () => {
    const f4 = changed(
      mxfp4,
      { ...codesOf(packed('fp4_low_first', 'F4')), ...scalesOf(typed('F8_E8M0')) },
      bare
    )
    expect(expectSame(f4, mxfp4).as?.format).toBe('mxfp4')
    const ofNvidia = changed(
      nvfp4,
      { ...codesOf(packed('fp4_low_first', 'F4')), ...scalesOf(typed('F8_E4M3')) },
      bare
    )
    expectSame(ofNvidia, nvfp4)
    const pair = {
      a_codes: typed('F8_E4M3'),
      b_codes: packed('fp4_low_first', 'F4'),
      ...scalesOf(typed('F8_E8M0'))
    }
    expectSame(changed(mixed, pair, bare), mixed)
  })

  it('uint8 is told by shapes where they leave one format', () => {
    expectSame(changed(mxfp4, codesOf(packed()), bare), mxfp4)
  })

  it('that leave several formats are refused, with the flag that names one', () => {
    const open = changed(nvfp4, codesOf(packed()), bare)
    expect(() => readOperands(open)).toThrow(/may be nvfp4, mxfp4_b16\. Name one with --format/)
    expectSame(open, nvfp4, { format: 'nvfp4' })
    const bytes = changed(mixed, { b_codes: packed() }, bare)
    expect(() => readOperands(bytes)).toThrow(/may be mixed, 1 other pair of elements\. Name one/)
  })

  it('that contradict the format are refused', () => {
    expect(() => readOperands(changed(mxfp4, { a_codes: typed('F8_E4M3') }))).toThrow(
      /"a_codes" is F8_E4M3, not e2m1/
    )
    expect(() => readOperands(changed(mxfp4, { b_scales: typed('F8_E4M3') }))).toThrow(
      /"b_scales" is F8_E4M3; scales of mxfp4 are e8m0/
    )
    expect(() => readOperands(mxfp4, { said: { format: 'nvfp4' } })).toThrow(
      /--format nvfp4: .* says that it is mxfp4/
    )
  })
})

describe('names', () => {
  it('that others give the arrays are taken', () => {
    const others = { a_codes: 'A', b_codes: 'b', a_scales: 'scale_a', b_scales: 'b_scale' }
    const changes = Object.fromEntries(
      Object.entries(others).map(([name, other]) => [name, renamed(other)])
    )
    expectSame(changed(mxfp4, changes), mxfp4)
  })

  it('that mean the same twice, or are none, are refused', () => {
    expect(() => readOperands(changed(mxfp4, { c_f64: renamed('a') }))).toThrow(
      /holds "a" and "a_codes", which mean the same/
    )
    expect(() => readOperands(changed(mxfp4, { a_scales: renamed('x') }))).toThrow(
      /has no tensor "a_scales" \(or "a_scale", "scale_a"\); it has "c_f64", /
    )
  })
})

describe('scales', () => {
  it.each([
    ['nvidia_32_4_4', '5D'],
    ['nvidia_32_4_4', '4D'],
    ['nvidia_32_4_4', 'TMA 5D'],
    ['cdna4_mfma32', '6D'],
    ['cdna4_mfma16', '7D']
  ])('in %s, %s: told by the shape alone', (layout, view) => {
    const file = changed(mxfp4, { ...scalesOf(scalesIn(layout, view)), ...withoutReference })
    const { as, notes } = expectSame(file, mxfp4)
    expect(as).toMatchObject({ scaleLayoutA: layout, scaleLayoutB: layout })
    expect(notes[0]).toContain(`are ${layout}, as their shape says`)
  })

  const twoD = ['cdna4_mfma32', 'cdna4_mfma16', 'aiter_gfx1250_n32k4']
  it.each(twoD)('in %s as 2D: told from those of its shape by the reference', (layout) => {
    const { notes } = expectSame(changed(mxfp4, scalesOf(scalesIn(layout, '2D'))), mxfp4)
    expect(notes[0]).toContain(`are ${layout}, as the reference of the file says`)
  })

  it('of one shape that nothing tells apart are refused, with the flags that name them', () => {
    const file = changed(mxfp4, {
      ...scalesOf(scalesIn('cdna4_mfma16', '2D')),
      ...withoutReference
    })
    expect(() => readOperands(file)).toThrow(
      /"a_scales" of 4 x 512 may be in any of these layouts: cdna4_mfma32, cdna4_mfma16, .*--scale-layout-a/
    )
    const said = { scaleLayoutA: 'cdna4_mfma16', scaleLayoutB: 'cdna4_mfma16' }
    expect(expectSame(file, mxfp4, said).notes[0]).toContain('are cdna4_mfma16, as was said')
  })

  it('of one shape are told by a product that is judged', () => {
    const file = changed(mxfp4, {
      ...scalesOf(scalesIn('cdna4_mfma16', '2D')),
      ...withoutReference
    })
    const values = plainOf(mxfp4).operands.reference!
    const product = () => ({ values: Float32Array.from(values), output: 'f32' })
    const { as, notes } = readOperands(file, { product })
    expect(as).toMatchObject({ scaleLayoutA: 'cdna4_mfma16', scaleLayoutB: 'cdna4_mfma16' })
    expect(notes[0]).toContain('the ones of their shape that give C')
  })

  it('swizzled in the shape of the plain matrix are seen by the reference, never by a C that is judged', () => {
    const swizzled = scalesOf((array) => ({
      ...scalesIn('nvidia_32_4_4')(array),
      shape: array.shape
    }))
    const { as } = expectSame(changed(mxfp4, swizzled), mxfp4)
    expect(as).toMatchObject({ scaleLayoutA: 'nvidia_32_4_4' })
    const values = plainOf(mxfp4).operands.reference!
    const file = changed(mxfp4, { ...swizzled, ...withoutReference })
    const { as: judged } = readOperands(file, { product: () => ({ values, output: 'f64' }) })
    expect(judged).toBeUndefined()
  })

  it('with padding are told by what stands in it', () => {
    const cut = (array: NamedArray): NamedArray => {
      const [rows, columns] = [100, array.shape[1]!]
      return { ...array, shape: [rows, columns], bytes: array.bytes.slice(0, rows * columns) }
    }
    const plain = changed(mxfp4, { ...codesOf(cut), ...scalesOf(cut), ...withoutReference })
    const padded = scalesOf((array) => ({
      ...scalesIn('nvidia_32_4_4')(cut(array)),
      shape: [128, 16]
    }))
    const { notes } = expectSame(changed(plain, padded), plain)
    expect(notes[0]).toContain('are nvidia_32_4_4, as their shape and padding say')
  })

  it('of one shape that are all alike need no telling', () => {
    const alike = scalesOf((array) => ({ ...array, bytes: array.bytes.map(() => 120) }))
    const plain = changed(mxfp4, { ...alike, ...withoutReference })
    const file = changed(plain, scalesOf(scalesIn('cdna4_mfma16', '2D')))
    expect(expectSame(file, plain).notes[0]).toContain('or any other: all are alike')
  })

  it('flat are told by their number and the reference', () => {
    const { notes } = expectSame(changed(mxfp4, scalesOf(scalesIn('nvidia_32_4_4'))), mxfp4)
    expect(notes[1]).toContain('are nvidia_32_4_4, as the reference of the file says')
  })

  it('of every layout are read where it is named', () => {
    for (const { name } of layouts) {
      const said = { scaleLayoutA: name, scaleLayoutB: name }
      expectSame(changed(mxfp4, scalesOf(scalesIn(name))), mxfp4, said)
    }
  })

  it('of another number than the layout named takes are refused', () => {
    expect(() => readOperands(nvfp4, { said: { scaleLayoutA: 'triton_hopper_8warps' } })).toThrow(
      /"a_scales" has 4096 bytes; 128 x 32 scales in triton_hopper_8warps take 8192/
    )
  })
})

describe('B as (K, N)', () => {
  const turn =
    (then: Change = (array) => array): Change =>
    (array) => {
      const [rows, columns] = array.shape as [number, number]
      const bytes = Uint8Array.from(array.bytes, (_, i) => {
        const [row, column] = [i % rows, Math.floor(i / rows)]
        return array.bytes[row * columns + column]!
      })
      return then({ ...array, shape: [columns, rows], bytes })
    }

  it('is told by K, and packed along N', () => {
    const { operation } = expectSame(
      changed(mxfp4, { a_codes: packed(), b_codes: turn(packed()), b_scales: turn() }),
      mxfp4
    )
    expect(operation.bOrder).toBe('kn')
  })

  it('has packed scales as (N, K) has', () => {
    const file = { b_codes: turn(), b_scales: scalesIn('nvidia_32_4_4', '4D') }
    expect(expectSame(changed(mxfp4, file), mxfp4).operation.bOrder).toBe('kn')
  })

  it('of float4_e2m1fn_x2 with torch names is read', () => {
    const f4 = both(packed('fp4_low_first', 'F4'), renamed('a'))
    const file = { a_codes: f4, b_codes: both(turn(packed('fp4_low_first', 'F4')), renamed('b')) }
    const scales = { a_scales: typed('F8_E8M0'), b_scales: both(turn(), typed('F8_E8M0')) }
    expectSame(changed(mxfp4, { ...file, ...scales }, bare), mxfp4)
  })
})
