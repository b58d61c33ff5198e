/**
 * The linear layers of a transformer as shapes, from its config.json as Hugging Face's transformers writes it. The output
 * projection onto the vocabulary is left out: checkpoints with block scales keep it wider. Experts are taken as evenly used.
 */
import type { ShapeRow } from '../contract/shapes'
import { UserError } from '../errors'
import { didYouMean } from '../knownName'

/** Families whose fields are known, as `model_type` names them. */
export const knownModelTypes = [
  ...['llama', 'mistral', 'mixtral', 'qwen2', 'qwen3', 'qwen2_moe', 'qwen3_moe'],
  ...['deepseek_v2', 'deepseek_v3', 'gpt_oss']
] as const

export interface ModelStep {
  /** Rows that go through the model at once: 1 a sequence when decoding, its length when reading a prompt. */
  tokens: readonly number[]
  /** GPUs that share each layer (tensor parallelism): the shapes are of one of them. */
  tp: number
}

interface Layer {
  name: string
  n: number
  k: number
  /** Which of its extents the GPUs share: N where outputs are split, K where inputs are. */
  split: 'n' | 'k' | 'none'
  layers: number
}

/** Throws a UserError that names the field: of an unknown family, without a field, or that `tp` does not divide. */
export function modelShapes(
  config: unknown,
  source: string,
  { tokens, tp }: ModelStep
): ShapeRow[] {
  const model = new ModelConfig(config, source)
  const rows: ShapeRow[] = []
  for (const count of tokens) {
    for (const layer of denseLayers(model, tp)) rows.push(shard(layer, count, 1, count, tp, source))
    const experts = model.experts()
    if (!experts) continue
    const pairs = count * experts.perToken
    const groups = Math.min(experts.count, pairs)
    const m = Math.ceil(pairs / groups)
    for (const layer of expertLayers(model, experts))
      rows.push(shard(layer, m, groups, count, tp, source))
  }
  return rows
}

function shard(
  { name, n, k, split, layers }: Layer,
  m: number,
  groups: number,
  tokens: number,
  tp: number,
  source: string
): ShapeRow {
  const extents = { n, k }
  if (split !== 'none') {
    if (extents[split] % tp !== 0)
      throw new UserError(
        'usage',
        `${source}: ${name} has ${split.toUpperCase()}=${extents[split]}, which ${tp} GPUs cannot share evenly.`
      )
    extents[split] /= tp
  }
  return { name, m, ...extents, groups, weight: layers, tokens }
}

function denseLayers(model: ModelConfig, tp: number): Layer[] {
  const hidden = model.number('hidden_size')
  const layers = model.number('num_hidden_layers')
  const experts = model.experts()
  const dense = experts ? experts.denseLayers : layers
  const found = attentionLayers(model, hidden, layers, tp)
  const mlp = (name: string, width: number, count: number): void => {
    if (count === 0) return
    const layer = name === '' ? '' : `${name} `
    found.push({ name: `${layer}gate up`, n: 2 * width, k: hidden, split: 'n', layers: count })
    found.push({ name: `${layer}down`, n: hidden, k: width, split: 'k', layers: count })
  }
  if (dense > 0) mlp(experts ? 'dense' : '', model.number('intermediate_size'), dense)
  if (experts)
    mlp('shared expert', experts.sharedWidth, experts.sharedWidth > 0 ? experts.layers : 0)
  return found
}

function attentionLayers(model: ModelConfig, hidden: number, layers: number, tp: number): Layer[] {
  const heads = model.number('num_attention_heads')
  const latent = model.optional('kv_lora_rank')
  if (latent !== undefined) return latentLayers(model, { hidden, layers, heads, latent })
  const headSize = model.optional('head_dim') ?? hidden / heads
  // Where there are fewer heads of keys and values than GPUs, each GPU has one of them.
  const keyHeads = Math.max(model.optional('num_key_value_heads') ?? heads, tp)
  return [
    { name: 'qkv', n: (heads + 2 * keyHeads) * headSize, k: hidden, split: 'n', layers },
    { name: 'o', n: hidden, k: heads * headSize, split: 'k', layers }
  ]
}

/** Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, 2.1): the projections down to the latents are on every GPU. */
function latentLayers(
  model: ModelConfig,
  {
    hidden,
    layers,
    heads,
    latent
  }: { hidden: number; layers: number; heads: number; latent: number }
): Layer[] {
  const rope = model.number('qk_rope_head_dim')
  const plain = model.number('qk_nope_head_dim')
  const value = model.number('v_head_dim')
  const queries = heads * (plain + rope)
  const queryRank = model.optional('q_lora_rank')
  const down = latent + rope
  const query: Layer[] = queryRank
    ? [
        { name: 'q kv a', n: queryRank + down, k: hidden, split: 'none', layers },
        { name: 'q b', n: queries, k: queryRank, split: 'n', layers }
      ]
    : [
        { name: 'kv a', n: down, k: hidden, split: 'none', layers },
        { name: 'q', n: queries, k: hidden, split: 'n', layers }
      ]
  return [
    ...query,
    { name: 'kv b', n: heads * (plain + value), k: latent, split: 'n', layers },
    { name: 'o', n: hidden, k: heads * value, split: 'k', layers }
  ]
}

const expertLayers = (model: ModelConfig, { width, layers }: Experts): Layer[] => {
  const hidden = model.number('hidden_size')
  return [
    { name: 'expert gate up', n: 2 * width, k: hidden, split: 'n', layers },
    { name: 'expert down', n: hidden, k: width, split: 'k', layers }
  ]
}

interface Experts {
  count: number
  perToken: number
  width: number
  /** Layers with experts, and those without. */
  layers: number
  denseLayers: number
  /** Width of the experts that every token goes through; 0: there are none. */
  sharedWidth: number
}

/** Fields by the names that the families give them. */
class ModelConfig {
  private readonly fields: Record<string, unknown>

  constructor(
    config: unknown,
    private readonly source: string
  ) {
    const outer = asObject(config)
    if (!outer) throw new UserError('usage', `${source} is no config.json: an object is expected.`)
    // Models of text and images keep those of the text apart.
    this.fields = asObject(outer['text_config']) ?? outer
    const type = this.fields['model_type']
    const known: readonly string[] = knownModelTypes
    if (typeof type !== 'string')
      throw new UserError('usage', `${source} has no model_type; is it a model's config.json?`)
    if (!known.includes(type))
      throw new UserError(
        'usage',
        `${source}: the layers of model_type "${type}" are not known here.${didYouMean(type, known)} Known: ` +
          `${known.join(', ')}. A list of shapes is taken as it is.`
      )
  }

  number(name: string): number {
    const value = this.optional(name)
    if (value !== undefined) return value
    throw new UserError('usage', `${this.source} has no ${name}, which is needed for its shapes.`)
  }

  /** The first of these that is there. */
  optional(...names: string[]): number | undefined {
    for (const name of names) {
      const value = this.fields[name]
      if (value === undefined || value === null) continue
      if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
      throw new UserError(
        'usage',
        `${this.source}: ${name} is ${JSON.stringify(value)}; a whole number is expected.`
      )
    }
    return undefined
  }

  experts(): Experts | undefined {
    const count = this.optional('n_routed_experts', 'num_local_experts', 'num_experts')
    if (!count) return undefined
    const perToken = this.optional('num_experts_per_tok', 'experts_per_token')
    if (!perToken)
      throw new UserError(
        'usage',
        `${this.source} has ${count} experts and no num_experts_per_tok, which says how many a token goes through.`
      )
    const width = this.optional('moe_intermediate_size') ?? this.number('intermediate_size')
    const layers = this.number('num_hidden_layers')
    const denseLayers = this.denseLayers(layers)
    const shared = this.optional('n_shared_experts')
    return {
      ...{ count, perToken, width, denseLayers, layers: layers - denseLayers },
      sharedWidth: shared ? shared * width : (this.optional('shared_expert_intermediate_size') ?? 0)
    }
  }

  /** How many layers of a model with experts have none. */
  private denseLayers(layers: number): number {
    const first = this.optional('first_k_dense_replace') ?? 0
    const every = this.optional('decoder_sparse_step', 'moe_layer_freq') ?? 1
    const listed = this.fields['mlp_only_layers']
    const only = new Set<unknown>(Array.isArray(listed) ? listed : [])
    const isDense = (at: number) =>
      at < first || only.has(at) || (this.usesSteps() ? (at + 1) % every !== 0 : at % every !== 0)
    return Array.from({ length: layers }, (_, at) => at).filter(isDense).length
  }

  /** Qwen counts its steps from 1, DeepSeek from 0. */
  private readonly usesSteps = () => this.fields['decoder_sparse_step'] !== undefined
}

const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
