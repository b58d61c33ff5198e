import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packedOffset } from '@shared/layouts/layout'
import { findLayout } from '@shared/layouts/registry'
import {
  mfmaScaleLane,
  readerPlace,
  readerTile,
  scaleProvider,
  scaleReaders,
  tensorMemoryPlace,
  type ScaleVector
} from '@shared/layouts/scaleReaders'

describe('providers of scales for mma.sync', () => {
  it('A: rows 0..7 from even lanes, 8..15 from odd ones, as SFALayout (2,2,8):(8,0,1) says', () => {
    for (const threadId of [0, 1]) {
      for (let lane = 0; lane < 32; lane++) {
        if (Math.floor((lane % 4) / 2) !== threadId) continue
        const row = (lane % 2) * 8 + Math.floor(lane / 4)
        expect(scaleProvider('A', 1, row, 0, { threadId, byteId: 3 })).toEqual({ lane, byte: 3 })
      }
    }
  })

  it('B: column L / 4 from one lane of each quad; 2X and 4X take adjacent bytes', () => {
    expect(scaleProvider('B', 2, 5, 1, { threadId: 3, byteId: 2 })).toEqual({ lane: 23, byte: 3 })
    expect(scaleProvider('B', 4, 7, 2)).toEqual({ lane: 28, byte: 2 })
  })

  it.each([
    [1, { threadId: 2 }, 0, 'thread-id-a is 2; it goes from 0 to 1.'],
    [2, { byteId: 1 }, 0, 'byte-id-a is 1; scale_vec::2X takes a multiple of 2 below 4.'],
    [4, { byteId: 2 }, 0, 'a multiple of 4 below 4'],
    [2, {}, 2, 'Scale 2 along K: scale_vec::2X has 2.']
  ] as [ScaleVector, object, number, string][])('refuses %s %j', (vector, ids, index, message) => {
    expect(() => scaleProvider('A', vector, 0, index, ids)).toThrow(message)
  })
})

it('tensor memory holds the 512-byte blocks of nvidia_32_4_4, 16 bytes a lane, four times', () => {
  const layout = findLayout('nvidia_32_4_4')
  for (const scaleVector of [1, 2, 4] as const) {
    for (let row = 0; row < 128; row += 3) {
      for (let scale = 0; scale < 12; scale++) {
        const kBlock = Math.floor(scale / scaleVector)
        const { lanes, column, byte } = tensorMemoryPlace(
          scaleVector,
          row,
          kBlock,
          scale % scaleVector
        )
        const block = Math.floor(column / 4)
        const offset = block * 512 + lanes[0]! * 16 + (column % 4) * 4 + byte
        expect(offset).toBe(packedOffset(layout, { rows: 128, columns: 12 }, row, scale))
        expect(lanes.map((lane) => lane % 32)).toEqual(Array(4).fill(row % 32))
      }
    }
  }
})

/**
 * CUTLASS's UMMA::tmem_sf_frg in its own virtual addressing: lanes count 1, bytes along the columns count 128; rows
 * (32, rows / 32):(1, 512), copies 4:32, scales of an MMA 128, MMAs along K the bytes that these leave free.
 */
it('tensor memory agrees with the strides of tmem_sf_frg', () => {
  for (const scaleVector of [1, 2, 4] as const) {
    for (let row = 0; row < 128; row++) {
      for (let kBlock = 0; kBlock < 4 / scaleVector; kBlock++) {
        for (let index = 0; index < scaleVector; index++) {
          const place = tensorMemoryPlace(scaleVector, row, kBlock, index)
          const address =
            (row % 32) + Math.floor(row / 32) * 512 + (kBlock * scaleVector + index) * 128
          expect(place.lanes).toEqual([0, 1, 2, 3].map((copy) => (address + copy * 32) % 128))
          expect(place.column * 4 + place.byte).toBe(Math.floor(address / 128))
        }
      }
    }
  }
})

it('a wavefront of 64 lanes holds each scale of an MFMA once, at the bases that Triton lists', () => {
  const bases = { 32: [1, 2, 4, 8, 16], 16: [1, 2, 4, 8] } as const
  for (const edge of [16, 32] as const) {
    const rowBits = bases[edge].length
    for (let lane = 0; lane < 64; lane++) {
      const row = lane & ((1 << rowBits) - 1)
      expect(mfmaScaleLane(edge, row, lane >> rowBits)).toBe(lane)
    }
  }
})

const golden = JSON.parse(readFileSync('test/fixtures/golden/scale_layouts.json', 'utf8')) as {
  layout: string
  rows: number
  cols: number
  packed: number[]
}[]

describe('readers and bytes of a layout belong together', () => {
  it.each(golden.filter(({ layout }) => layout.startsWith('cdna4')))(
    'a 32-bit load by lane from $layout, $rows x $cols, brings what the reader says',
    ({ layout, cols, packed }) => {
      expect(packed.length % 256).toBe(0)
      packed.forEach((linear, offset) => {
        if (linear < 0) return
        const [reader] = scaleReaders(layout, Math.floor(linear / cols), linear % cols)
        expect(reader!.lanes).toEqual([Math.floor((offset % 256) / 4)])
        expect(reader!.byte).toBe(offset % 4)
      })
    }
  )

  it('warp scales of nvidia_32_4_4: byte-id follows from the byte within the loaded word', () => {
    const layout = findLayout('nvidia_32_4_4')
    fc.assert(
      fc.property(fc.nat(511), fc.nat(63), (row, column) => {
        const offset = packedOffset(layout, { rows: 512, columns: 64 }, row, column)
        for (const reader of scaleReaders('nvidia_32_4_4', row, column)) {
          expect(reader.byte).toBe(offset % 4)
          expect(new Set(reader.lanes).size).toBe(reader.lanes.length)
        }
      })
    )
  })

  it('lists the instructions of each layout, and none for those that software reads', () => {
    const names = (layout: string) => scaleReaders(layout, 0, 0).map((one) => one.instruction)
    expect(names('nvidia_32_4_4')).toHaveLength(9)
    const forA = scaleReaders('nvidia_32_4_4', 0, 0).filter(({ operand }) => operand !== 'B')
    expect(forA.map(({ instruction }) => instruction)).toEqual([
      'tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X',
      'tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X',
      'tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X',
      'mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.atype.btype.f32.ue8m0',
      'mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0',
      'mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3'
    ])
    expect(names('cdna4_mfma32')).toEqual(['v_mfma_scale_f32_32x32x64_f8f6f4'])
    expect(names('linear').filter((name) => name.startsWith('tcgen05'))).toEqual([])
    expect(names('triton_hopper_4warps')).toEqual([])
  })

  it('says it in words', () => {
    const found = scaleReaders('nvidia_32_4_4', 165, 6)
    const lines = found.map((one) => `${readerTile(one)}: ${readerPlace(one)}; ${one.selector}`)
    // Row 165 is row 37 of tile 1: lane 5, row group 1. Scale 6 is byte 2 of the second block: column 4 + 1.
    expect(lines[0]).toBe(
      'A or B, tile 1 along M or N, 6 along K: lanes 5, 37, 69 and 101, column 5, byte 2; SFA_ID or SFB_ID 2'
    )
    // Row 165 is row 5 of the tenth tile of 16: lane pairs 20, 21 and 22, 23, of which row 5 has the even ones.
    expect(lines[3]).toBe(
      'A, tile 10 along M, 6 along K: lanes 20 or 22, byte 2; thread-id-a 0 to 1, byte-id-a 2'
    )
    expect(lines[8]).toBe(
      'B, tile 20 along N, 1 along K: lanes 20, 21, 22 or 23, byte 2; thread-id-b 0 to 3, byte-id-b 0'
    )
  })
})
