/** The table of docs/operation.md is what the kernels say of themselves. UPDATE_DOCS=1 writes it. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { featureIds, type Feature } from '@shared/contract/devices'
import { everyBlockFormat } from '@shared/formats/blockFormat'
import { pythonFeatures } from '../../../src-main/engine/pythonKernels'
import { readKernelManifests } from '../../../src-main/engine/kernelManifests'
import { loadTestAddon } from '../../support/addon'
import { python, pythonHas } from '../../support/python'

const page = 'docs/operation.md'
const [begin, end] = ['<!-- table -->\n', '<!-- /table -->']

interface Described {
  id: string
  outputs: string[]
  formats: { format: string; level: string }[]
  features: Feature[]
  isPython?: boolean
}

/** 'exact', 'emulated: ...', 'not taken: ...' */
function words({ features, isPython }: Described, id: string): string {
  const feature = features.find((entry) => entry.id === id)
  if (!feature) return 'not taken'
  const { level, reason } = feature
  const why = reason.replace(/\.$/, '').replace(/^It\b/, 'it')
  // The manifests' words for what a kernel does itself are the same for all; a Python kernel's are its own.
  if (level === 'fused') return isPython && why ? `exact: ${why}` : 'exact'
  return `${level === 'pass' ? 'emulated' : 'not taken'}: ${why}`
}

/** 'exact: all 29', 'approximate: mxfp4'; what it does not compute is what is left. */
function formatWords({ formats }: Described): string {
  const levels = new Map<string, string[]>()
  for (const { format, level } of formats)
    if (level !== 'unavailable') levels.set(level, [...(levels.get(level) ?? []), format])
  const parts = [...levels].map(([level, ids]) => {
    const others = everyBlockFormat.filter(({ id }) => !ids.includes(id)).map(({ id }) => id)
    if (others.length === 0) return `${level}: all ${ids.length}`
    return `${level}: ${others.length <= 4 ? `all but ${others.join(', ')}` : ids.join(', ')}`
  })
  return parts.join('; ') || 'as `devices` says'
}

const heads = [
  'kernel',
  'formats',
  'B (K, N)',
  'accumulator',
  'e4m3, e5m2 out',
  'batch',
  'groups',
  'other out'
]

function line(kernel: Described): string {
  const { id, outputs } = kernel
  const plain = outputs.filter((type) => type !== 'e4m3' && type !== 'e5m2')
  const cells = [
    `\`${id}\``,
    formatWords(kernel),
    ...featureIds.map((feature) => words(kernel, feature)),
    plain.join(', ')
  ]
  return `| ${cells.join(' | ')} |`
}

async function described(): Promise<Described[]> {
  const addon = loadTestAddon()
  const { devices } = await addon.detect()
  const offered = [
    ...devices.find(({ id }) => id === 'cpu')!.kernels,
    ...addon.cublasLtKernels(10),
    ...addon.hipblasLtKernels('gfx950')
  ].map((kernel) => ({ ...kernel, formats: kernel.capabilities }))
  // A CPU without an instruction set has the kernel all the same: what it would compute is what the others do.
  const able = offered.filter(({ formats }) => formats.some(({ level }) => level !== 'unavailable'))
  const { sources } = readKernelManifests(['resources/kernels/cuda', 'resources/kernels/hip'])
  return [...able, ...sources.filter(({ role }) => role === 'kernel')]
}

const plainOutputs = ['f16', 'bf16', 'f32']

/** Triton's kernels as their classes say it, read without loading them; undefined without a Python. */
function tritonKernels(): Described[] | undefined {
  if (!pythonHas('ast')) return undefined
  const script = `import ast, json
tree = ast.parse(open("resources/providers/triton/provider.py").read())
found = {}
def value(node):
    if not isinstance(node, ast.Dict): return ast.literal_eval(node)
    merged = {}
    for key, one in zip(node.keys, node.values):
        if key is None: merged.update(found[one.value.id][one.attr])
        else: merged[value(key)] = value(one)
    return merged
for node in tree.body:
    if not isinstance(node, ast.ClassDef): continue
    said = {}
    for base in node.bases: said.update(found.get(base.id, {}))
    for one in node.body:
        if isinstance(one, ast.Assign) and one.targets[0].id in ("id", "takes", "outputs"):
            said[one.targets[0].id] = value(one.value)
    found[node.name] = said
print(json.dumps([said for name, said in found.items() if not name.startswith("_")]))`
  const said = JSON.parse(execFileSync(python, ['-c', script], { encoding: 'utf8' })) as {
    id: string
    takes?: Record<string, string>
    outputs?: string[]
  }[]
  return said.map(({ id, takes = {}, outputs = plainOutputs }) => ({
    // What it computes of the formats depends on the GPU, and is asked there.
    ...{ id, outputs, formats: [], isPython: true },
    features: pythonFeatures({ takes, outputs })
  }))
}

const ownFile: Described = {
  ...{ id: '--provider', outputs: plainOutputs, formats: [], isPython: true },
  features: pythonFeatures({ takes: {}, outputs: plainOutputs }).map((feature) => {
    const attribute = feature.id === 'f8-output' ? 'outputs' : 'takes'
    return { ...feature, level: 'fused', reason: `where its class names it in \`${attribute}\`` }
  })
}

it('is the table of the page', async () => {
  const triton = tritonKernels()
  const kernels = [...(await described()), ...(triton ?? []), ownFile]
  const lines = kernels
    // The CPU's differ in their instructions alone.
    .filter(({ id }) => !/^cpu-(avx|avx2|avxvnni|avx512)$/.test(id))
    .map((kernel) => line({ ...kernel, id: kernel.id === 'cpu-portable' ? 'cpu-*' : kernel.id }))
  const rule = `|${heads.map(() => '---').join('|')}|`
  const table = [`| ${heads.join(' | ')} |`, rule, ...lines, ''].join('\n')
  // Without a Python there is nobody to ask what Triton's take.
  const isAsked = (row: string) => triton !== undefined || !row.startsWith('| `triton')
  const text = readFileSync(page, 'utf8')
  const [before, rest] = text.split(begin)
  const after = rest!.slice(rest!.indexOf(end))
  if (process.env['UPDATE_DOCS'] && triton) writeFileSync(page, `${before}${begin}${table}${after}`)
  const there = rest!.slice(0, rest!.indexOf(end)).split('\n')
  expect(there.filter(isAsked).join('\n')).toBe(table)
})

it("the CPU's kernels take the same", async () => {
  const cpu = (await described()).filter(
    ({ id }) => id.startsWith('cpu-') && id !== 'cpu-blackwell'
  )
  expect(cpu.length).toBeGreaterThan(0)
  for (const kernel of cpu)
    expect(line({ ...kernel, id: 'cpu-*' })).toBe(line({ ...cpu[0]!, id: 'cpu-*' }))
})

it('the plain CUDA kernels take everything, the large ones batches, accumulators and eight bits', async () => {
  const { sources } = readKernelManifests(['resources/kernels/cuda'])
  const kernels = sources.filter(({ role }) => role === 'kernel')
  expect(kernels.map(({ id }) => id)).toEqual(expect.arrayContaining(['simt', 'mma', 'wgmma']))
  for (const { id, formats, features, outputs } of kernels) {
    const levels = new Map(features.map((feature) => [feature.id, feature.level]))
    if (id === 'simt' || id === 'mma') {
      expect([id, formats.length]).toEqual([id, everyBlockFormat.length])
      expect([id, ...levels.values()]).toEqual([id, ...featureIds.map(() => 'fused')])
      expect([id, [...outputs].sort()]).toEqual([id, ['bf16', 'e4m3', 'e5m2', 'f16', 'f32']])
    }
    for (const feature of ['batch', 'accumulator', 'f8-output', 'grouped'])
      expect([id, feature, levels.get(feature)]).not.toEqual([id, feature, 'none'])
  }
})
