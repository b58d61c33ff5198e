/**
 * The conventions as data: which tensors make up a weight, what they are named and how they lie. Each was read in the source
 * named with it. A convention is told by names, dtypes and sizes; where two remain, by a word of the file's description.
 */
import { numberFormats } from '../formats/numberFormat'
import { findLayout } from '../layouts/registry'
import { parseLayoutText } from '../layouts/userLayout'
import type { Convention } from './convention'

const { e2m1, e2m3, e3m2, e4m3, e5m2, e8m0, ue4m3 } = numberFormats

const mxfp4 = { element: e2m1, scale: e8m0, scaleBlockSize: 32 }
const mxfp8 = { element: e4m3, scale: e8m0, scaleBlockSize: 32 }
const nvfp4 = { element: e2m1, scale: ue4m3, scaleBlockSize: 16 }
const rows = { codesShape: 'rows' } as const
const e8m0Bytes = ['U8', 'F8_E8M0'] as const

/** The plain matrix read along its columns: what a transposed tensor is. */
const columnMajor = parseLayoutText('column_major = r:0 | c:0 | c r')

const torchao = {
  ...rows,
  source:
    'pytorch/ao torchao/prototype/safetensors/safetensors_support.py; torchao/prototype/mx_formats/mx_tensor.py, nvfp4_tensor.py',
  codesSuffix: '._weight_qdata',
  scalesSuffix: '._weight_scale',
  // utils.py, to_blocked: cuBLAS 128x4, in a tensor of another shape.
  hintedLayout: {
    word: /"is_swizzled_scales": *true/,
    layout: findLayout('nvidia_32_4_4')
  }
}

const mlx = {
  ...rows,
  source: 'ml-explore/mlx mlx/ops.cpp, fp_quantize; python/mlx/nn/layers/quantized.py',
  codesSuffix: '.weight',
  codesDtypes: ['U32'],
  scalesSuffix: '.scales',
  scalesDtypes: ['U8']
}

const quark = {
  ...rows,
  source:
    'amd/Quark quark/torch/utils/pack.py, Pack_fp4 and Pack_fp6; quark/torch/export/nn/modules/realquantizer.py',
  codesSuffix: '.weight',
  codesDtypes: ['U8'],
  scalesSuffix: '.weight_scale',
  scalesDtypes: e8m0Bytes
}

/** Blocks of log2 of the scale as a signed byte, then the codes: Quark's dtype mx. */
const quarkMx = {
  ...rows,
  scale: e8m0,
  scaleBlockSize: 32,
  codesSuffix: '.weight',
  codesDtypes: ['U8'],
  scalesDtypes: [],
  interleaved: 1,
  scaleCodeOffset: 127
} as const

const quarkMx6 = {
  ...quarkMx,
  source: 'amd/Quark quark/torch/utils/pack.py, Pack_mxfp6; quark/torch/kernel, real_quantize_mxfp',
  // Four codes in three bytes: the upper two bits of each, then the lower four of each, the first code in the high bits.
  order: 'fp6_dense',
  bitPairs: [6, 7, 3, 4, 5, 2, 10, 11, 1, 8, 9, 0]
} as const

const fpQuant = {
  ...rows,
  source: 'IST-DASLab/FP-Quant inference_lib/src/fp_quant/module/linear.py',
  codesSuffix: '.qweight',
  codesDtypes: ['U8'],
  scalesSuffix: '.scales',
  scalesDtypes: ['U8'],
  tensorScaleSuffix: '.weight_global_scale',
  tensorScaleUse: 'divide'
} as const

const modeloptExperts = {
  ...nvfp4,
  source:
    'NVIDIA/Model-Optimizer modelopt/torch/export/unified_export_hf.py, _export_quantized_weight; modelopt/torch/quantization/utils/core_utils.py, quantizer_attr_names',
  codesSuffix: '',
  codesDtypes: ['U8'],
  scalesSuffix: '_weight_scale',
  scalesDtypes: ['F8_E4M3'],
  tensorScaleSuffix: '_weight_scale_2',
  tensorScaleUse: 'multiply'
} as const

const transformerEngine = {
  ...rows,
  codesSuffix: '.weight._rowwise_data',
  codesDtypes: ['U8'],
  scalesSuffix: '.weight._rowwise_scale_inv',
  scalesDtypes: ['U8'],
  scalesLayout: findLayout('linear_128x4')
} as const

const gguf = {
  ...rows,
  source:
    'ggml-org/llama.cpp ggml/src/ggml-quants.c; gguf-py/gguf/constants.py; conversion/base.py',
  codesSuffix: '.weight',
  scalesDtypes: [],
  readOnly: true
} as const

export const conventions: readonly Convention[] = [
  {
    name: 'gpt-oss',
    title: 'MXFP4 of gpt-oss on Hugging Face: X_blocks (..., rows, K / 32, 16), X_scales',
    source: 'huggingface/transformers src/transformers/integrations/mxfp4.py',
    ...mxfp4,
    codesShape: 'blocks',
    codesSuffix: '_blocks',
    codesDtypes: ['U8'],
    scalesSuffix: '_scales',
    scalesDtypes: ['U8']
  },
  {
    name: 'gpt-oss-original',
    title: 'MXFP4 of gpt-oss as OpenAI stores it: X.blocks (..., rows, K / 32, 16), X.scales',
    source: 'openai/gpt-oss gpt_oss/torch/weights.py',
    ...mxfp4,
    codesShape: 'blocks',
    codesSuffix: '.blocks',
    codesDtypes: ['U8'],
    scalesSuffix: '.scales',
    scalesDtypes: ['U8']
  },
  {
    name: 'compressed-tensors-nvfp4',
    title: 'nvfp4-pack-quantized: X.weight_packed, X.weight_scale, / X.weight_global_scale',
    source:
      'vllm-project/compressed-tensors src/compressed_tensors/compressors/nvfp4/base.py and helpers.py',
    ...nvfp4,
    ...rows,
    codesSuffix: '.weight_packed',
    codesDtypes: ['U8'],
    scalesSuffix: '.weight_scale',
    scalesDtypes: ['F8_E4M3'],
    tensorScaleSuffix: '.weight_global_scale',
    tensorScaleUse: 'divide'
  },
  {
    name: 'compressed-tensors-mxfp4',
    title: 'mxfp4-pack-quantized: X.weight_packed, X.weight_scale',
    source: 'vllm-project/compressed-tensors src/compressed_tensors/compressors/mxfp4/base.py',
    ...mxfp4,
    ...rows,
    codesSuffix: '.weight_packed',
    codesDtypes: ['U8'],
    scalesSuffix: '.weight_scale',
    scalesDtypes: e8m0Bytes
  },
  {
    name: 'modelopt-nvfp4',
    title: 'NVFP4 of ModelOpt: X.weight, X.weight_scale, x X.weight_scale_2',
    source: 'NVIDIA/Model-Optimizer modelopt/torch/export/unified_export_hf.py',
    ...nvfp4,
    ...rows,
    codesSuffix: '.weight',
    codesDtypes: ['U8'],
    scalesSuffix: '.weight_scale',
    scalesDtypes: ['F8_E4M3'],
    tensorScaleSuffix: '.weight_scale_2',
    tensorScaleUse: 'multiply'
  },
  {
    name: 'mxfp8',
    title:
      'MXFP8 of ModelOpt, Quark and compressed-tensors (mxfp8-quantized): X.weight, X.weight_scale',
    source:
      'NVIDIA/Model-Optimizer modelopt/torch/quantization/qtensor/mxfp8_tensor.py; compressed-tensors compressors/mxfp8/base.py',
    ...mxfp8,
    ...rows,
    codesSuffix: '.weight',
    codesDtypes: ['F8_E4M3'],
    scalesSuffix: '.weight_scale',
    scalesDtypes: e8m0Bytes
  },
  {
    ...modeloptExperts,
    ...rows,
    name: 'modelopt-experts-nvfp4',
    title:
      'NVFP4 of ModelOpt, fused experts: X (..., rows, K / 2), X_weight_scale, x X_weight_scale_2'
  },
  {
    ...modeloptExperts,
    codesShape: 'columns',
    codesLayout: { layout: columnMajor, itemBytes: 1 },
    scalesLayout: columnMajor,
    name: 'modelopt-bmm-nvfp4',
    title:
      'The same transposed (Llama 4, gpt-oss): X (experts, K / 2, rows), X_weight_scale (experts, K / 16, rows)'
  },
  {
    ...quark,
    ...mxfp4,
    name: 'quark-mxfp4',
    title: 'MXFP4 of Quark, also of ModelOpt: X.weight, X.weight_scale'
  },
  {
    ...quark,
    name: 'quark-mxfp6-e2m3',
    title: 'MXFP6 (E2M3) of Quark: X.weight (rows, K * 3 / 4), X.weight_scale',
    element: e2m3,
    scale: e8m0,
    scaleBlockSize: 32,
    order: 'fp6_dense',
    hint: 'fp6_e2m3'
  },
  {
    ...quark,
    name: 'quark-mxfp6-e3m2',
    title: 'MXFP6 (E3M2) of Quark: X.weight (rows, K * 3 / 4), X.weight_scale',
    element: e3m2,
    scale: e8m0,
    scaleBlockSize: 32,
    order: 'fp6_dense',
    hint: 'fp6_e3m2'
  },
  {
    ...quarkMx,
    name: 'quark-mx-mxfp4',
    title:
      'MXFP4 of Quark with dtype mx: X.weight (rows, K / 32 * 17), a signed exponent, then 16 bytes',
    source:
      'amd/Quark quark/torch/utils/pack.py, Pack_mxfp4; quark/torch/kernel, real_quantize_mxfp',
    element: e2m1,
    described: [/"dtype": *"mx"/, /"mx_element_dtype": *"fp4"/]
  },
  {
    ...quarkMx6,
    name: 'quark-mx-mxfp6-e2m3',
    title:
      'MXFP6 (E2M3) of Quark with dtype mx: X.weight (rows, K / 32 * 25), a signed exponent, then 24 bytes',
    element: e2m3,
    described: [/"dtype": *"mx"/, /"mx_element_dtype": *"fp6_e2m3"/]
  },
  {
    ...quarkMx6,
    name: 'quark-mx-mxfp6-e3m2',
    title:
      'MXFP6 (E3M2) of Quark with dtype mx: X.weight (rows, K / 32 * 25), a signed exponent, then 24 bytes',
    element: e3m2,
    described: [/"dtype": *"mx"/, /"mx_element_dtype": *"fp6_e3m2"/]
  },
  {
    name: 'deepseek-mxfp4',
    title: 'MXFP4 of DeepSeek-V4: X.weight as I8, X.scale as F8_E8M0',
    source: 'deepseek-ai/DeepSeek-V4-Flash inference/convert.py; vllm vllm/models/deepseek_v4',
    ...mxfp4,
    ...rows,
    codesSuffix: '.weight',
    codesDtypes: ['I8', 'U8', 'F4'],
    scalesSuffix: '.scale',
    scalesDtypes: ['F8_E8M0']
  },
  { ...mlx, ...mxfp4, name: 'mlx-mxfp4', title: 'MLX mxfp4: X.weight in U32, X.scales' },
  { ...mlx, ...mxfp8, name: 'mlx-mxfp8', title: 'MLX mxfp8: X.weight in U32, X.scales' },
  {
    ...mlx,
    ...nvfp4,
    name: 'mlx-nvfp4',
    title: 'MLX nvfp4: X.weight in U32, X.scales (no scale per tensor)'
  },
  {
    ...torchao,
    ...mxfp4,
    name: 'torchao-mxfp4',
    title: 'MXFP4 of torchao (MXTensor): X._weight_qdata, X._weight_scale',
    codesDtypes: ['U8', 'F4'],
    scalesDtypes: ['F8_E8M0', 'U8']
  },
  {
    ...torchao,
    ...mxfp8,
    name: 'torchao-mxfp8',
    title: 'MXFP8 (E4M3) of torchao (MXTensor): X._weight_qdata, X._weight_scale',
    codesDtypes: ['F8_E4M3'],
    scalesDtypes: ['F8_E8M0', 'U8']
  },
  {
    ...torchao,
    ...mxfp8,
    name: 'torchao-mxfp8-e5m2',
    title: 'MXFP8 (E5M2) of torchao (MXTensor): X._weight_qdata, X._weight_scale',
    element: e5m2,
    codesDtypes: ['F8_E5M2'],
    scalesDtypes: ['F8_E8M0', 'U8']
  },
  {
    ...torchao,
    ...mxfp8,
    name: 'torchao-mxfp6-e2m3',
    title: 'MXFP6 (E2M3) of torchao, one code a byte: X._weight_qdata, X._weight_scale',
    element: e2m3,
    codesDtypes: ['U8'],
    scalesDtypes: ['F8_E8M0', 'U8'],
    hint: 'fp6_e2m3'
  },
  {
    ...torchao,
    ...mxfp8,
    name: 'torchao-mxfp6-e3m2',
    title: 'MXFP6 (E3M2) of torchao, one code a byte: X._weight_qdata, X._weight_scale',
    element: e3m2,
    codesDtypes: ['U8'],
    scalesDtypes: ['F8_E8M0', 'U8'],
    hint: 'fp6_e3m2'
  },
  {
    ...torchao,
    ...nvfp4,
    name: 'torchao-nvfp4',
    title:
      'NVFP4 of torchao (NVFP4Tensor): X._weight_qdata, X._weight_scale, x X._weight_per_tensor_scale',
    codesDtypes: ['U8', 'F4'],
    scalesDtypes: ['F8_E4M3'],
    tensorScaleSuffix: '._weight_per_tensor_scale',
    tensorScaleUse: 'multiply',
    tensorScaleOptional: true
  },
  {
    ...fpQuant,
    ...mxfp4,
    name: 'fp-quant-mxfp4',
    title:
      'MXFP4 of FP-Quant: X.qweight, X.scales, / X.weight_global_scale; rotated by a Hadamard matrix'
  },
  {
    ...fpQuant,
    ...nvfp4,
    name: 'fp-quant-nvfp4',
    title:
      'NVFP4 of FP-Quant: X.qweight, X.scales (U8), / X.weight_global_scale; rotated by a Hadamard matrix'
  },
  {
    ...nvfp4,
    ...rows,
    name: 'nunchaku-nvfp4',
    title:
      'NVFP4 of Nunchaku: X.qweight and X.wscales as mma.sync loads them, x X.wtscale; without wcscales, smoothing and low rank',
    source:
      'nunchaku-tech/nunchaku nunchaku/lora/flux/packer.py, NunchakuWeightPacker; nunchaku/models/linear.py',
    codesSuffix: '.qweight',
    codesDtypes: ['I8'],
    // pack_weight with warp_n = 128: words of eight codes.
    codesLayout: {
      layout: parseLayoutText(
        'nunchaku_words = rowTile:0 pack:8 half:2 row:8 | columnTile:0 columnHalf:2 column:4 | rowTile columnTile pack row column half columnHalf'
      ),
      itemBytes: 4
    },
    scalesSuffix: '.wscales',
    scalesDtypes: ['F8_E4M3'],
    scalesLayout: findLayout('nunchaku_micro'),
    scalesOfAnyShape: true,
    tensorScaleSuffix: '.wtscale',
    tensorScaleUse: 'multiply',
    tensorScaleOptional: true
  },
  {
    ...transformerEngine,
    ...mxfp8,
    name: 'te-mxfp8',
    title: 'MXFP8 (E4M3) of TransformerEngine: X.weight._rowwise_data, X.weight._rowwise_scale_inv',
    source: 'NVIDIA/TransformerEngine transformer_engine/pytorch/tensor/mxfp8_tensor.py'
  },
  {
    ...transformerEngine,
    ...nvfp4,
    name: 'te-nvfp4',
    title:
      'NVFP4 of TransformerEngine: X.weight._rowwise_data, X.weight._rowwise_scale_inv, x X.weight._amax_rowwise / 2688',
    source:
      'NVIDIA/TransformerEngine transformer_engine/pytorch/tensor/nvfp4_tensor.py; transformer_engine/common/cast/nvfp4/dequantize_nvfp4.cuh',
    tensorScaleSuffix: '.weight._amax_rowwise',
    tensorScaleUse: 'amax'
  },
  {
    ...gguf,
    ...mxfp4,
    name: 'gguf-mxfp4',
    title:
      'MXFP4 of GGUF (block_mxfp4): a scale, then 16 bytes with the halves of a block side by side',
    codesDtypes: ['MXFP4'],
    interleaved: 1,
    order: 'fp4_halves_32'
  },
  {
    ...gguf,
    ...nvfp4,
    name: 'gguf-nvfp4',
    title: 'NVFP4 of GGUF (block_nvfp4): four scales, then 32 bytes; x X.scale',
    codesDtypes: ['NVFP4'],
    interleaved: 4,
    order: 'fp4_halves_16',
    tensorScaleSuffix: '.scale',
    tensorScaleUse: 'multiply',
    tensorScaleOptional: true
  }
]
