/** The table of docs/operation.md is what the kernels say of themselves. UPDATE_DOCS=1 writes it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { Feature } from '@shared/contract/devices'
import { everyBlockFormat } from '@shared/formats/blockFormat'
import { pythonFeatures } from '../../../src-main/engine/pythonKernels'
import { readKernelManifests } from '../../../src-main/engine/kernelManifests'
import { loadTestAddon } from '../../support/addon'

const page = 'docs/operation.md'
const [begin, end] = ['<!-- table -->\n', '<!-- /table -->']

interface Described {
  id: string
  outputs: string[]
  formats: { format: string; level: string }[]
  features: Feature[]
}

/** 'exact', 'emulated: ...', 'not taken: ...' */
function words(features: Feature[], id: string): string {
  const feature = features.find((entry) => entry.id === id)
  if (!feature) return 'not taken'
  const { level, reason } = feature
  const why = reason.replace(/\.$/, '').replace(/^It\b/, 'it')
  return level === 'fused' ? 'exact' : `${level === 'pass' ? 'emulated' : 'not taken'}: ${why}`
}

/** 'exact: all 27', 'approximate: mxfp4'; what it does not compute is what is left. */
function formatWords({ formats }: Described): string {
  const levels = new Map<string, string[]>()
  for (const { format, level } of formats)
    if (level !== 'unavailable') levels.set(level, [...(levels.get(level) ?? []), format])
  const parts = [...levels].map(([level, ids]) => {
    const all = ids.length === everyBlockFormat.length
    return `${level}: ${all ? `all ${ids.length}` : ids.join(', ')}`
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
  'other out'
]

function line(kernel: Described): string {
  const { id, outputs, features } = kernel
  const plain = outputs.filter((type) => type !== 'e4m3' && type !== 'e5m2')
  const cells = [
    `\`${id}\``,
    formatWords(kernel),
    ...['b-kn', 'accumulator', 'f8-output', 'batch'].map((feature) => words(features, feature)),
    plain.join(', ')
  ]
  return `| ${cells.join(' | ')} |`
}

async function described(): Promise<Described[]> {
  const addon = loadTestAddon()
  const { devices } = await addon.detect()
  const offered = [
    ...devices.find(({ id }) => id === 'cpu')!.kernels,
    ...addon.cublasLtKernels(10)
  ].map((kernel) => ({ ...kernel, formats: kernel.capabilities }))
  // A CPU without an instruction set has the kernel all the same: what it would compute is what the others do.
  const able = offered.filter(({ formats }) => formats.some(({ level }) => level !== 'unavailable'))
  const { sources } = readKernelManifests(['resources/kernels/cuda'])
  const python = {
    id: 'triton*, --provider',
    outputs: ['f16', 'bf16', 'f32'],
    // Python says which, where it is.
    formats: [],
    features: pythonFeatures
  }
  return [...able, ...sources.filter(({ role }) => role === 'kernel'), python]
}

it('is the table of the page', async () => {
  const kernels = await described()
  const lines = kernels
    // The CPU's differ in their instructions alone.
    .filter(({ id }) => !/^cpu-(avx|avx2|avxvnni|avx512)$/.test(id))
    .map((kernel) => line({ ...kernel, id: kernel.id === 'cpu-portable' ? 'cpu-*' : kernel.id }))
  const rule = `|${heads.map(() => '---').join('|')}|`
  const table = [`| ${heads.join(' | ')} |`, rule, ...lines, ''].join('\n')
  const text = readFileSync(page, 'utf8')
  const [before, rest] = text.split(begin)
  const after = rest!.slice(rest!.indexOf(end))
  if (process.env['UPDATE_DOCS']) writeFileSync(page, `${before}${begin}${table}${after}`)
  expect(rest!.slice(0, rest!.indexOf(end))).toBe(table)
})

it("the CPU's kernels take the same", async () => {
  const cpu = (await described()).filter(({ id }) => id.startsWith('cpu-'))
  expect(cpu.length).toBeGreaterThan(0)
  for (const kernel of cpu)
    expect(line({ ...kernel, id: 'cpu-*' })).toBe(line({ ...cpu[0]!, id: 'cpu-*' }))
})
