/** Fragments, scale lanes and tensor memory against layouts that other people's code computed. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  elementsPerLane,
  findFragment,
  fragmentElement,
  laneCount,
  type Fragment
} from '@shared/layouts/fragments'
import {
  mfmaScaleLane,
  scaleProvider,
  tensorMemoryPlace,
  type ScaleVector
} from '@shared/layouts/scaleReaders'

const golden = <T>(name: string) =>
  JSON.parse(readFileSync(`test/fixtures/layouts/${name}.json`, 'utf8')) as T

type Table = [outer: number, inner: number][][]

const tableOf = (fragment: Fragment): Table =>
  Array.from({ length: laneCount(fragment) }, (_, lane) =>
    Array.from({ length: elementsPerLane(fragment) }, (_, element) => {
      const { outer, inner } = fragmentElement(fragment, lane, element)
      return [outer, inner]
    })
  )

interface Atom {
  atom: string
  M: number
  N: number
  K: number
  scaleBlock: number
  bitsInRegister: number
  A: { table: Table }
  B: { table: Table }
  C: { table: Table }
  SFA: { laneRow: number[] }
  SFB: { laneRow: number[] }
}

describe('mma.sync of sm_120 as CuTe lays it out', () => {
  const { atoms } = golden<{ atoms: Atom[] }>('cute_sm120_fragments')
  it.each(atoms.map((one) => [one.atom, one] as const))('%s', (_name, atom) => {
    const shape = `m${atom.M}n${atom.N}k${atom.K}`
    for (const operand of ['A', 'B'] as const)
      expect(tableOf(findFragment(shape, operand, atom.bitsInRegister))).toEqual(
        atom[operand].table
      )
    expect(tableOf(findFragment(shape, 'C'))).toEqual(atom.C.table)
    const vector = (atom.K / atom.scaleBlock) as ScaleVector
    for (let row = 0; row < atom.M; row++)
      expect(atom.SFA.laneRow[scaleProvider('A', vector, row, 0).lane]).toBe(row)
    for (let column = 0; column < atom.N; column++)
      expect(atom.SFB.laneRow[scaleProvider('B', vector, column, 0).lane]).toBe(column)
  })
})

interface MfmaShape {
  shape: string
  operands: Record<string, { bits: number; table: Table }>
  C: { table: Table }
  scales: Record<'A' | 'B', { laneRowBlock: [number, number][] }>
}

describe('v_mfma_scale of gfx950 as its emulator and Triton have it', () => {
  const { shapes } = golden<{ shapes: MfmaShape[] }>('gfx950_lane_maps')
  it.each(shapes.map((one) => [one.shape, one] as const))('%s', (shape, found) => {
    for (const { bits, table } of Object.values(found.operands))
      for (const operand of ['A', 'B'] as const)
        expect(tableOf(findFragment(shape, operand, bits))).toEqual(table)
    expect(tableOf(findFragment(shape, 'C'))).toEqual(found.C.table)
    const edge = shape.startsWith('16') ? 16 : 32
    for (const operand of ['A', 'B'] as const)
      found.scales[operand].laneRowBlock.forEach(([row, block], lane) =>
        expect(mfmaScaleLane(edge, row, block)).toBe(lane)
      )
  })
})

interface ScaleTile {
  rows: number
  scalesPerInstruction: ScaleVector
  kBlocks: number
  tmem: [lane: number, column: number, byte: number][][]
  smemByte: number[][]
  mmaAddress: string[]
}

describe('scales in tensor memory as CuTe lays them out', () => {
  const { tiles } = golden<{
    tiles: { instruction: string; SFA?: ScaleTile; SFB?: ScaleTile }[]
  }>('cute_sm100_tensor_memory')
  const cases = tiles.flatMap(({ instruction, SFA, SFB }) =>
    [SFA, SFB].flatMap((one, at) => (one ? [[instruction, at ? 'B' : 'A', one] as const] : []))
  )
  it.each(cases)('%s, scales of %s', (_instruction, _operand, tile) => {
    const vector = tile.scalesPerInstruction
    tile.tmem.forEach((scales, row) =>
      scales.forEach(([lane, column, byte], scale) => {
        const kBlock = Math.floor(scale / vector)
        const place = tensorMemoryPlace(vector, row, kBlock, scale % vector, tile.rows)
        expect(place).toEqual({
          lanes: [lane, lane + 32, lane + 64, lane + 96],
          column,
          byte
        })
        const address = Number(tile.mmaAddress[kBlock])
        // Column of the instruction's first scale, and in bits 30 and 31 the byte that it begins at.
        expect([address & 0xffff, address >>> 30]).toEqual([
          Math.floor((kBlock * vector) / 4) * (tile.rows / 32),
          (kBlock * vector) % 4
        ])
      })
    )
  })
})
