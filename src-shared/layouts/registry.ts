/** The scale layouts that people meet, each with where it is defined; native/core/layoutRegistry.cpp has the same list. */
import { knownName } from '../knownName'
import { digits, view } from './describe'
import type { ScaleLayout } from './layout'
import { parseLayoutText } from './userLayout'

export const layouts: readonly ScaleLayout[] = [
  {
    name: 'linear',
    title: 'Linear, row-major',
    source:
      'OCP Microscaling Formats v1.0 leaves the layout open; this is a plain (rows, K / V) matrix',
    rowDigits: digits('row', 'r:0'),
    columnDigits: digits('column', 'c:0'),
    order: ['r', 'c'],
    views: [view('2D', 'r, c')]
  },
  {
    name: 'nvidia_32_4_4',
    title: 'NVIDIA 32x4x4 (cuBLAS 128x4 tiles, tcgen05, cuTile swizzle_32_4_4)',
    source:
      'cuBLAS 13 documentation, "1D Block Scaling Factors Layout"; PTX ISA, tcgen05.mma scale factors',
    rowDigits: digits('row', 'rowTile:0 rowGroup:4 rowInGroup:32'),
    columnDigits: digits('column', 'columnTile:0 columnInTile:4'),
    order: ['rowTile', 'columnTile', 'rowInGroup', 'rowGroup', 'columnInTile'],
    views: [
      view('5D', 'rowTile, columnTile, rowInGroup, rowGroup, columnInTile'),
      view('4D', 'rowTile, columnTile, rowInGroup, rowGroup columnInTile'),
      view('TMA 5D', '1, rowTile, columnTile, 2, 256'),
      // Triton python/test/unit/language/test_matmul.py, block_scale_mxfp_matmul: a row of tiles is one row of a 2D load.
      view('USE_2D_SCALE_LOAD', 'rowTile, columnTile rowInGroup rowGroup columnInTile')
    ]
  },
  {
    name: 'cdna4_mfma32',
    title: 'CDNA4, v_mfma_scale 32x32x64',
    source: 'Triton tutorial 10, shuffle_scales_cdna4 with mfma_nonkdim = 32',
    rowDigits: digits('row', 'rowTile:0 row:32'),
    columnDigits: digits('column', 'columnTile:0 pair:4 half:2'),
    order: ['rowTile', 'columnTile', 'half', 'row', 'pair'],
    views: [
      view('2D', 'rowTile, columnTile half row pair'),
      view('6D', 'rowTile, columnTile, half, row, pair, 1')
    ]
  },
  {
    name: 'cdna4_mfma16',
    title: 'CDNA4, v_mfma_scale 16x16x128',
    source: 'Triton tutorial 10, shuffle_scales_cdna4 with mfma_nonkdim = 16',
    rowDigits: digits('row', 'rowTile:0 rowHalf:2 row:16'),
    columnDigits: digits('column', 'columnTile:0 columnHalf:2 quarter:4'),
    order: ['rowTile', 'columnTile', 'quarter', 'row', 'columnHalf', 'rowHalf'],
    views: [
      view('2D', 'rowTile, columnTile quarter row columnHalf rowHalf'),
      view('7D', 'rowTile, columnTile, quarter, row, columnHalf, rowHalf, 1')
    ]
  },
  {
    name: 'flashinfer_8x4',
    title: 'FlashInfer and TensorRT-LLM 8x4 tiles (SfLayout.layout_8x4)',
    source: 'flashinfer, TensorRT-LLM quantization_utils.cuh, get_sf_out_offset_8x4',
    rowDigits: digits('row', 'rowTile:0 rowInTile:8'),
    columnDigits: digits('column', 'columnTile:0 columnInTile:4'),
    order: ['rowTile', 'columnTile', 'rowInTile', 'columnInTile'],
    views: [view('4D', 'rowTile, columnTile, rowInTile, columnInTile')]
  },
  {
    name: 'deepgemm_ue8m0',
    title: 'DeepGEMM packed UE8M0: four scales of one row in an int32, MN-major, 16-byte aligned',
    source:
      'DeepGEMM csrc/jit_kernels/impls/smxx_layout.hpp, get_mn_major_tma_aligned_packed_ue8m0_tensor',
    rowDigits: digits('row', 'rowTile:0 rowInTile:4'),
    columnDigits: digits('column', 'word:0 byte:4'),
    order: ['word', 'rowTile', 'rowInTile', 'byte'],
    views: [view('int32', 'word, rowTile rowInTile, byte')]
  },
  {
    name: 'triton_blackwell',
    title: 'triton_kernels BlackwellMXScaleLayout: 32x4x4 with K / V padded to 8',
    source: 'triton_kernels layout_details/blackwell_scale.py',
    rowDigits: digits('row', 'rowTile:0 rowGroup:4 rowInGroup:32'),
    columnDigits: digits('column', 'columnPair:0 columnTile:2 columnInTile:4'),
    order: ['rowTile', 'columnPair', 'columnTile', 'rowInGroup', 'rowGroup', 'columnInTile'],
    views: [view('TMA 5D', '1, rowTile, columnPair columnTile, 2, 256')]
  },
  tritonHopper(4),
  tritonHopper(8),
  aiterTile('gfx1250_n32k4', 32, 4, 'shuffle_scale_n32k4; shuffle_scale_f4 for MXFP4 (intype 7)'),
  aiterTile('gfx1250_n32k8', 32, 8, 'shuffle_scale_f4 for NVFP4 (intype 8); shuffle_scale_moe'),
  aiterTile('gfx1250_n16k4', 16, 4, 'shuffle_scale_gemm'),
  aiterBatched(8),
  aiterBatched(16),
  {
    name: 'aiter_gfx1250_gate_up',
    title: 'aiter gfx1250 n32k4 of a fused gate_up weight, rows of gate and up in turn',
    source: 'ROCm/aiter aiter/ops/shuffle.py, shuffle_scale_n32k4 with is_guinterleave and gate_up',
    rowDigits: digits('row', 'gateUp:2 rowTile:0 row:16'),
    columnDigits: digits('column', 'columnTile:0 column:4'),
    order: ['rowTile', 'columnTile', 'row', 'gateUp', 'column'],
    views: [view('2D', 'rowTile, columnTile row gateUp column')]
  },
  {
    name: 'aiter_gfx950_gate_up',
    title: 'aiter gfx950 of a fused gate_up weight: as cdna4_mfma16, gate and up side by side',
    source: 'ROCm/aiter aiter/ops/shuffle.py, shuffle_scale with is_guinterleave and gate_up',
    rowDigits: digits('row', 'gateUp:2 rowTile:0 row:16'),
    columnDigits: digits('column', 'columnTile:0 columnHalf:2 quarter:4'),
    order: ['rowTile', 'columnTile', 'quarter', 'row', 'columnHalf', 'gateUp'],
    views: [view('2D', 'rowTile, columnTile quarter row columnHalf gateUp')]
  },
  {
    name: 'linear_128x4',
    title: 'Linear, row-major, padded to 128 rows and 4 columns',
    source:
      'NVIDIA/TransformerEngine transformer_engine/pytorch/tensor/mxfp8_tensor.py and nvfp4_tensor.py, get_scale_shape',
    rowDigits: digits('row', 'rowTile:0 row:128'),
    columnDigits: digits('column', 'columnTile:0 column:4'),
    order: ['rowTile', 'row', 'columnTile', 'column'],
    views: [view('2D', 'rowTile row, columnTile column')]
  },
  {
    name: 'nunchaku_micro',
    title: 'Nunchaku wscales of NVFP4: what one lane of mma.sync loads lies together',
    source:
      'nunchaku-tech/nunchaku nunchaku/lora/flux/packer.py, NunchakuWeightPacker.pack_micro_scale',
    rowDigits: digits('row', 'rowTile:0 quarter:4 rowGroup:4 rowInGroup:8'),
    columnDigits: digits('column', 'columnTile:0 column:4'),
    order: ['rowTile', 'columnTile', 'rowInGroup', 'rowGroup', 'quarter', 'column'],
    // The project's own view, (K / 16, N), says only how many bytes there are.
    views: [view('6D', 'rowTile, columnTile, rowInGroup, rowGroup, quarter, column')]
  }
]

/** Tiles of so many rows and scale columns, one after the other along K, each row-major: what a WMMA operand loads. */
function aiterTile(name: string, rows: number, columns: number, functions: string): ScaleLayout {
  return {
    name: `aiter_${name}`,
    title: `aiter ${name}: tiles of ${rows} rows and ${columns} scale columns, each row-major`,
    source: `ROCm/aiter aiter/ops/shuffle.py and aiter/ops/triton/utils/shuffle.py, ${functions}`,
    rowDigits: digits('row', `rowTile:0 row:${rows}`),
    columnDigits: digits('column', `columnTile:0 column:${columns}`),
    order: ['rowTile', 'columnTile', 'row', 'column'],
    views: [view('2D', 'rowTile, columnTile row column')]
  }
}

/** As nvidia_32_4_4 with 8 or 16 columns side by side instead of 4 (with 4 they are the same bytes). */
function aiterBatched(width: number): ScaleLayout {
  return {
    name: `aiter_kwidth${width}`,
    title: `aiter batched FP4 scales, ${width} scale columns side by side`,
    source: `ROCm/aiter aiter/ops/triton/utils/shuffle.py, shuffle_scale_batched with scale_k_width ${width}`,
    rowDigits: digits('row', 'rowTile:0 rowGroup:4 rowInGroup:32'),
    columnDigits: digits('column', `columnTile:0 column:${width}`),
    order: ['rowTile', 'columnTile', 'rowInGroup', 'rowGroup', 'column'],
    views: [view('2D', 'rowTile, columnTile rowInGroup rowGroup column')]
  }
}

/** triton_kernels layout_details/hopper_scale.py: what a thread of each of the warps needs lies together. */
function tritonHopper(warps: number): ScaleLayout {
  return {
    name: `triton_hopper_${warps}warps`,
    title: `triton_kernels HopperMXScaleLayout, ${warps} warps`,
    source: 'triton_kernels layout_details/hopper_scale.py',
    rowDigits: digits('row', `rowTile:0 rowHalf:2 warp:${warps} rowQuarter:2 rowInQuarter:8`),
    columnDigits: digits('column', 'pair:0 columnInPair:2'),
    order: ['rowTile', 'warp', 'pair', 'rowHalf', 'rowInQuarter', 'columnInPair', 'rowQuarter'],
    views: [view('2D', 'rowTile warp, pair rowHalf rowInQuarter columnInPair rowQuarter')]
  }
}

/**
 * Other names of the same bytes. flashinfer: get_sf_out_offset_128x4; triton_kernels: gfx950_scale.py permutes as the
 * tutorial's mfma16, gfx1250_scale.py as 32x4x4 from four scale columns up. aiter: shuffle_scale (e8m0_shuffle) permutes as
 * mfma16 and pads the rows to 256; shuffle_scale_f4 as its n32k4 and n32k8.
 */
const otherNames: Record<string, string> = {
  cublas_128x4: 'nvidia_32_4_4',
  cutile_swizzle_32_4_4: 'nvidia_32_4_4',
  flashinfer_128x4: 'nvidia_32_4_4',
  triton_gfx1250: 'nvidia_32_4_4',
  triton_gfx950: 'cdna4_mfma16',
  aiter_e8m0_shuffle: 'cdna4_mfma16',
  aiter_f4_mxfp4: 'aiter_gfx1250_n32k4',
  aiter_f4_nvfp4: 'aiter_gfx1250_n32k8'
}

/** A layout by its name, or one written out in a line. Throws a UserError for what is neither. */
export function findLayout(name: string): ScaleLayout {
  if (name.includes('=')) return parseLayoutText(name)
  const names = [...layouts.map((layout) => layout.name), ...Object.keys(otherNames)]
  const known = knownName(name, names, 'scale layout', 'Layouts')
  const ownName = Object.hasOwn(otherNames, known) ? otherNames[known] : known
  return layouts.find((layout) => layout.name === ownName)!
}
