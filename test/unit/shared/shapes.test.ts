import { describe, expect, it } from 'vitest'
import { bundledModels, bundledShapes } from '@shared/shapes/bundledModels'
import { modelShapes } from '@shared/shapes/modelShapes'
import { readShapeFile, shapesToCsv, shapesToJson } from '@shared/shapes/shapeFile'

const once = { tokens: [1], tp: 1 }
/** 'NxK' of each layer, with how many layers have it. */
const layers = (name: string, step = once) =>
  Object.fromEntries(
    bundledShapes(name, step).rows.map(({ name: layer, n, k, weight }) => [
      layer,
      `${n}x${k} *${weight}`
    ])
  )

describe('shapes of bundled models', () => {
  // (N, K) as DeepGEMM's benchmark and the models' configurations have them.
  it('are those their authors publish', () => {
    expect(layers('deepseek-v3')).toEqual({
      'q kv a': '2112x7168 *61',
      'q b': '24576x1536 *61',
      'kv b': '32768x512 *61',
      o: '7168x16384 *61',
      'dense gate up': '36864x7168 *3',
      'dense down': '7168x18432 *3',
      'shared expert gate up': '4096x7168 *58',
      'shared expert down': '7168x2048 *58',
      'expert gate up': '4096x7168 *58',
      'expert down': '7168x2048 *58'
    })
    expect(layers('llama-70b')).toEqual({
      qkv: '10240x8192 *80',
      o: '8192x8192 *80',
      'gate up': '57344x8192 *80',
      down: '8192x28672 *80'
    })
    expect(layers('qwen3-32b')).toMatchObject({ qkv: '10240x5120 *64', down: '5120x25600 *64' })
    expect(layers('gpt-oss-120b')).toMatchObject({
      'expert gate up': '5760x2880 *36',
      'expert down': '2880x2880 *36'
    })
    expect(Object.keys(bundledModels)).toHaveLength(4)
  })

  it('share rows of tokens among the experts that they go through', () => {
    const experts = (tokens: number) => {
      const { rows } = bundledShapes('gpt-oss-120b', { tokens: [tokens], tp: 1 })
      const row = rows.find(({ name }) => name === 'expert down')!
      return [row.m, row.groups]
    }
    // Top-4 of 128: one token goes through 4 experts, 4096 give each of 128 experts 128 rows.
    expect(experts(1)).toEqual([1, 4])
    expect(experts(32)).toEqual([1, 128])
    expect(experts(33)).toEqual([2, 128])
    expect(experts(4096)).toEqual([128, 128])
  })

  it('are divided among GPUs by columns or rows, and say where they cannot be', () => {
    expect(layers('llama-70b', { tokens: [1], tp: 8 })).toEqual({
      qkv: '1280x8192 *80',
      o: '8192x1024 *80',
      'gate up': '7168x8192 *80',
      down: '8192x3584 *80'
    })
    // More GPUs than heads of keys: each has one of them.
    expect(layers('llama-70b', { tokens: [1], tp: 16 }).qkv).toBe('768x8192 *80')
    expect(layers('deepseek-v3', { tokens: [1], tp: 8 })['q kv a']).toBe('2112x7168 *61')
    expect(() => layers('gpt-oss-120b', { tokens: [1], tp: 7 })).toThrow(
      'gpt-oss-120b: qkv has N=5120, which 7 GPUs cannot share evenly.'
    )
  })
})

describe('a config.json', () => {
  const of = (config: unknown) => modelShapes(config, 'config.json', once)
  const dense = {
    ...{ hidden_size: 64, intermediate_size: 128, num_hidden_layers: 4 },
    ...{ num_attention_heads: 4, num_key_value_heads: 2 }
  }

  it('of experts is read by the names of each family', () => {
    const mixtral = {
      ...dense,
      model_type: 'mixtral',
      num_local_experts: 8,
      num_experts_per_tok: 2
    }
    expect(
      of(mixtral).map(({ name, n, k, groups, weight }) => [name, n, k, groups, weight])
    ).toEqual([
      ['qkv', 128, 64, 1, 4],
      ['o', 64, 64, 1, 4],
      ['expert gate up', 256, 64, 2, 4],
      ['expert down', 64, 128, 2, 4]
    ])
    const qwen = {
      ...{ ...dense, model_type: 'qwen3_moe', num_experts: 8, num_experts_per_tok: 2 },
      ...{ moe_intermediate_size: 32, decoder_sparse_step: 2, mlp_only_layers: [1] }
    }
    const weights = of(qwen).map(({ name, weight }) => [name, weight])
    // Layers 2 and 4 have experts by the step, and layer 2 is listed as dense.
    expect(weights).toContainEqual(['dense gate up', 3])
    expect(weights).toContainEqual(['expert down', 1])
    const within = { text_config: { ...dense, model_type: 'llama' } }
    expect(of(within)).toEqual(of({ ...dense, model_type: 'llama' }))
  })

  it.each<[unknown, string]>([
    [[], 'config.json is no config.json: an object is expected.'],
    [{}, "config.json has no model_type; is it a model's config.json?"],
    [
      { model_type: 'qwen33' },
      'the layers of model_type "qwen33" are not known here. Did you mean qwen3?'
    ],
    [{ model_type: 'llama' }, 'config.json has no hidden_size, which is needed for its shapes.'],
    [
      { ...dense, model_type: 'llama', num_attention_heads: '4' },
      'num_attention_heads is "4"; a whole number is expected.'
    ],
    [
      { ...dense, model_type: 'mixtral', num_local_experts: 8 },
      'has 8 experts and no num_experts_per_tok'
    ]
  ])('%j is refused in one sentence', (config, sentence) => {
    expect(() => of(config)).toThrow(sentence)
  })
})

describe('a list of shapes', () => {
  it('comes back from CSV and JSON as it was', () => {
    const { rows } = bundledShapes('gpt-oss-120b', { tokens: [1, 16], tp: 2 })
    expect(readShapeFile(shapesToCsv(rows), 's.csv')).toEqual({ rows })
    expect(readShapeFile(shapesToJson(rows), 's.json')).toEqual({ rows })
    expect(readShapeFile('m,n,k\n1,2,3\n', 's.csv')).toEqual({
      rows: [{ name: '2x3', m: 1, n: 2, k: 3, groups: 1, weight: 1 }]
    })
    expect(readShapeFile('{"hidden_size": 1}', 'c.json')).toHaveProperty('config')
  })

  it.each<[string, string]>([
    ['m,n\n1,2\n', 's: the first line names the columns, at least m, n and k of'],
    ['m,n,k,what\n1,2,3,4\n', '"what" is none of them'],
    ['m,n,k\n1,2\n', 's: row 1 has 2 cells, and the first line 3 columns.'],
    ['m,n,k\n1,2,3\n4,x,6\n', 's: row 2, n: a number is expected, not "x".'],
    ['m,n,k\n0,2,3\n', 's: row 1, m: a number of at least 1 is expected, not 0.'],
    ['m,n,k\n', 's: Name at least one shape.'],
    ['[{"name": "a", "m": 1, "n": 2}]', 's: row 1, k: it is missing.'],
    [
      '[{"name": "a", "m": 1, "n": 2, "k": 3, "l": 4}]',
      'row 1, l: nothing of this name is known here'
    ],
    ['[1', 's is no JSON:'],
    ['{"shapes": 4}', 's: shapes: a list is expected.']
  ])('%j is refused in one sentence', (text, sentence) => {
    expect(() => readShapeFile(text, 's')).toThrow(sentence)
  })
})
