/** The fields of config.json that give the shapes, of models whose shapes come with the program. */
import type { GroupLayout } from '../contract/groups'
import { withGroupLayout, type BundledList, type ShapeRow, type Shapes } from '../contract/shapes'
import { modelShapes, type ModelStep } from './modelShapes'

export const bundledModels: Readonly<Record<string, object>> = {
  'llama-70b': {
    model_type: 'llama',
    hidden_size: 8192,
    intermediate_size: 28672,
    num_hidden_layers: 80,
    num_attention_heads: 64,
    num_key_value_heads: 8
  },
  'qwen3-32b': {
    model_type: 'qwen3',
    hidden_size: 5120,
    intermediate_size: 25600,
    num_hidden_layers: 64,
    num_attention_heads: 64,
    num_key_value_heads: 8,
    head_dim: 128
  },
  'deepseek-v3': {
    model_type: 'deepseek_v3',
    hidden_size: 7168,
    intermediate_size: 18432,
    moe_intermediate_size: 2048,
    num_hidden_layers: 61,
    first_k_dense_replace: 3,
    num_attention_heads: 128,
    q_lora_rank: 1536,
    kv_lora_rank: 512,
    qk_nope_head_dim: 128,
    qk_rope_head_dim: 64,
    v_head_dim: 128,
    n_routed_experts: 256,
    n_shared_experts: 1,
    num_experts_per_tok: 8
  },
  'gpt-oss-120b': {
    model_type: 'gpt_oss',
    hidden_size: 2880,
    intermediate_size: 2880,
    num_hidden_layers: 36,
    num_attention_heads: 64,
    num_key_value_heads: 8,
    head_dim: 64,
    num_local_experts: 128,
    num_experts_per_tok: 4
  }
}

/** Tokens of a step where none are said: a small batch that is decoded. */
export const usualTokens = [16]

/** Shapes of a bundled model. Throws a UserError where `tp` does not divide a layer. */
export const bundledShapes = (
  name: string,
  step: ModelStep,
  groupLayout?: GroupLayout
): Shapes => ({
  source: name,
  tokens: [...step.tokens],
  tp: step.tp,
  ...(groupLayout && { groupLayout }),
  rows: withGroupLayout(modelShapes(bundledModels[name], name, step), groupLayout)
})

/** Lists of shapes that come with the program, as they are. */
export const bundledLists: Readonly<Record<BundledList, () => ShapeRow[]>> = {
  /** Weights of linear layers, decoded (M of 1 to 64) and in a long prompt: rows of A are the tokens that take it. */
  'llm-layers': () =>
    layerTokens.flatMap((m) =>
      layerWeights.map(([n, k]): ShapeRow => ({
        name: `${n}x${k}`,
        ...{ m, n, k, groups: 1, weight: 1, tokens: m }
      }))
    ),
  /** The grouped products that DeepGEMM's benchmark times: groups x rows of each, for every (N, K). */
  'deepgemm-grouped': () =>
    deepGemmGroups.flatMap(([layout, groups, m]) =>
      deepGemmWeights.map(([n, k]): ShapeRow => ({
        name: `${layout} ${groups}x${m} ${n}x${k}`,
        ...{ m, n, k, groups, layout, weight: 1 }
      }))
    )
}
const layerTokens = [1, 8, 16, 32, 64, 4096]
const layerWeights: [n: number, k: number][] = [
  [2880, 2880],
  [7168, 2048],
  [4096, 7168],
  [10240, 8192],
  [8192, 8192],
  [8192, 28672],
  [57344, 8192]
]

const deepGemmGroups: [GroupLayout, number, number][] = [
  ['contiguous', 4, 8192],
  ['contiguous', 8, 4096],
  ['masked', 32, 192],
  ['masked', 6, 1024],
  ['masked', 32, 20]
]
const deepGemmWeights: [n: number, k: number][] = [
  [6144, 7168],
  [7168, 3072],
  [4096, 4096],
  [4096, 2048]
]
