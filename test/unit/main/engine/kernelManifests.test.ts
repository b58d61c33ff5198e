import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { namesOf } from '@shared/choice/cost'
import { evaluate, withValues } from '@shared/choice/expression'
import { everyBlockFormat, findBlockFormat } from '@shared/formats/blockFormat'
import { layoutCode } from '@shared/layouts/formula'
import { findLayout } from '@shared/layouts/registry'
import { parseUserLayout } from '@shared/layouts/userLayout'
import { readKernelManifests, withModels } from '../../../../src-main/engine/kernelManifests'
import { loadTestAddon } from '../../../support/addon'
import { makeKernel } from '../../renderer/support/samples'
import { h100Size } from '../../../support/h100Size'

const row = {
  id: 'mine',
  summary: 'a kernel',
  file: 'mine.cu',
  architectures: ['sm_90a', 'sm_80+'],
  formats: [{ format: 'mxfp4', level: 'exact', reason: 'none' }],
  launches: [{ function: 'f', grid: ['ceil_div(M, 64)'], block: [128], arguments: ['c', 'M'] }]
}
const layout = { name: 'own', rows: 'r:0 ri:8', columns: 'c:0', order: 'c r ri' }

function folderWith(rows: unknown, files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'kernels-'))
  const all = { 'manifest.json': JSON.stringify({ kernels: rows }), 'mine.cu': '', ...files }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

/** The one sentence about a manifest with this row alone. */
function refused(changed: unknown): string {
  const { sources, warnings } = readKernelManifests([folderWith([changed])])
  expect(sources).toEqual([])
  expect(warnings).toHaveLength(1)
  return warnings[0]!
}

describe('kernel manifests', () => {
  it('are read folder by folder; what a row leaves out is filled in', () => {
    const folder = folderWith([row])
    const { sources, warnings } = readKernelManifests([folder])
    expect(warnings).toEqual([])
    expect(sources).toHaveLength(1)
    expect(sources[0]).toMatchObject({
      id: 'mine',
      provider: 'user',
      role: 'kernel',
      file: join(folder, 'mine.cu'),
      scaleLayout: 'linear',
      codes: 'packed',
      outputs: ['f16', 'bf16', 'f32'],
      constants: {},
      launches: [{ function: 'f', block: ['128'], cluster: [], sharedBytes: '0', when: '1' }]
    })
  })

  it('of the GPU lie in rows of whole 16 bytes where TMA brings them, or refuse the problem', () => {
    const { sources } = readKernelManifests([resolve('resources/kernels/cuda')])
    const wrong: string[] = []
    let looked = 0
    for (const source of sources)
      for (const { format } of source.formats)
        for (const k of [16, 32, 48, 80, 96, 160, 512])
          for (const [m, n] of [
            [7, 40],
            [33, 200],
            [300, 264]
          ] as const) {
            if (k % findBlockFormat(format).scaleBlockSize !== 0) continue
            const { id, requires, tensorMaps, launches } = source
            const names = namesOf(source, { format, m, n, k, output: 'f16' }, { m }, h100Size)
            if (requires.some(({ that }) => evaluate(that, names) === 0)) continue
            for (const launch of launches.filter(({ when }) => evaluate(when, names) !== 0))
              for (const map of tensorMaps.filter(({ name }) => launch.arguments.includes(name))) {
                looked++
                const strides = map.strides.map((stride) => evaluate(stride, names))
                if (strides.some((stride) => stride % 16 !== 0))
                  wrong.push(`${id}, ${format}, ${m} x ${n} x ${k}: ${map.name}, ${strides.join()}`)
              }
          }
    expect(wrong).toEqual([])
    expect(looked).toBeGreaterThan(1000)
  })

  it('values are in their order, as they are written', () => {
    const values = { TILES: 'ceil_div(N, 64)', SPLITS: 'K > 512 ? SMS / TILES : 1', TWO: 2 }
    const { sources, warnings } = readKernelManifests([folderWith([{ ...row, values }])])
    expect(warnings).toEqual([])
    expect(sources[0]!.values).toEqual([
      { name: 'TILES', expression: 'ceil_div(N, 64)' },
      { name: 'SPLITS', expression: 'K > 512 ? SMS / TILES : 1' },
      { name: 'TWO', expression: '2' }
    ])
    const names = withValues({ N: 130, K: 1024, SMS: 132 }, sources[0]!.values)
    expect(names).toMatchObject({ TILES: 3, SPLITS: 44, TWO: 2 })
  })

  // They are evaluated whether or not a launch asks for them.
  it('values of our rows can be told for every problem, on small devices too', () => {
    const { sources } = readKernelManifests(
      ['cuda', 'hip'].map((folder) => resolve('resources/kernels', folder))
    )
    let told = 0
    for (const source of sources)
      for (const processors of [8, 24, 78, 132, 160])
        for (const groups of [0, 1, 300])
          for (const [m, n, k] of [
            [1, 1, 32],
            [64, 37, 2880],
            [513, 8192, 96],
            [8192, 57344, 28672]
          ] as const)
            for (const format of ['mxfp4', 'nvfp4', 'mxfp8', 'w4a16_nvfp4', 'mxfp6_e2m3']) {
              const problem = { format, m, n, k, output: 'f16' }
              const size = { processors, memoryGbs: 0 }
              expect(() => namesOf(source, problem, { m, groups }, size), source.id).not.toThrow()
              told += source.values.length
            }
    expect(told).toBeGreaterThan(1000)
  })

  it('a bad row costs that kernel only, and the first of two ids stays', () => {
    const rows = [row, { ...row, id: 'no spaces' }, row, { ...row, id: 'far', file: '../a.cu' }]
    const { sources, warnings } = readKernelManifests([folderWith(rows), '/nowhere'])
    expect(sources.map(({ id }) => id)).toEqual(['mine'])
    expect(warnings).toHaveLength(4)
    expect(warnings.join('\n')).toMatch(/kernel "no spaces" is left out: id must be letters/)
    expect(warnings.join('\n')).toMatch(/the id "mine" is taken/)
    expect(warnings.join('\n')).toMatch(/its file "..\/a.cu" lies outside the folder/)
    expect(warnings.join('\n')).toMatch(/\/nowhere has no manifest.json/)
  })

  const launch = row.launches[0]!
  const map = { name: 'm', of: 'c', element: 'u8', dims: ['K', 'M'], strides: ['K'], box: [1, 1] }
  it.each([
    ['constant is not known', { ...row, constant: { A: 1 } }],
    ['launches must have a launch', { ...row, launches: undefined }],
    ['formats must name a format', { ...row, formats: [] }],
    [
      'formats[0].format must be one',
      { ...row, formats: [{ ...row.formats[0], format: 'mxfp5' }] }
    ],
    [
      'formats[0].level must be one of',
      { ...row, formats: [{ ...row.formats[0], level: 'good' }] }
    ],
    [
      'formats[0].error is for the level approximate',
      { ...row, formats: [{ ...row.formats[0], level: 'exact', error: { normal: 1e-4 } }] }
    ],
    [
      'formats[0].error.normal must be above 0',
      { ...row, formats: [{ ...row.formats[0], level: 'approximate', error: { normal: 0 } }] }
    ],
    [
      'formats[0].error.usual must be for one of normal, positive',
      { ...row, formats: [{ ...row.formats[0], level: 'approximate', error: { usual: 1e-4 } }] }
    ],
    [
      'architectures[0] must be a target such as sm_90a, sm_80+ or gfx950',
      { ...row, architectures: ['hopper'] }
    ],
    ['architectures must name at least one target', { ...row, architectures: [] }],
    [
      'launches[0].block[0] must be a whole number',
      { ...row, launches: [{ ...launch, block: [1.5] }] }
    ],
    [
      'launches[0].block must have 1 to 3 elements',
      { ...row, launches: [{ ...launch, block: [] }] }
    ],
    ['launches[0].function is missing', { ...row, launches: [{ grid: [1], block: [1] }] }],
    ['constants.BLOCK must be a whole number', { ...row, constants: { BLOCK: 'x' } }],
    ['constants.A;B must be a name', { ...row, constants: { 'A;B': 1 } }],
    ['values.tiles must be in upper case', { ...row, values: { tiles: 'M' } }],
    ['values.SMS must not have the name of a given variable', { ...row, values: { SMS: 'M' } }],
    [
      'values must not have a name of constants',
      { ...row, constants: { TILE: 1 }, values: { TILE: 'M' } }
    ],
    ['codes must be one of packed, bytes', { ...row, codes: 'loose' }],
    ['outputs[0] must be one of f16, bf16, f32', { ...row, outputs: ['f64'] }],
    [
      'tensorMaps[0].strides must have one eleme',
      { ...row, tensorMaps: [{ ...map, strides: [] }] }
    ],
    ['tensorMaps[0].swizzle must be one of', { ...row, tensorMaps: [{ ...map, swizzle: '16B' }] }],
    ['requires[0].message is missing', { ...row, requires: [{ that: 'K > 1' }] }],
    ['id must not be auto', { ...row, id: 'auto' }],
    ['cost.stages must name a stage', { ...row, cost: { source: 'a run', stages: [] } }],
    ['cost.stages[0].name is missing', { ...row, cost: { source: 'a run', stages: [{}] } }],
    ['instruction must be one of fp4, fp6', { ...row, instruction: 'bfloat' }],
    ['"swirled" is no scale layout', { ...row, scaleLayout: 'swirled' }],
    ['is no usable layout', { ...row, scaleLayout: 'own = row:16 | column:0 | row column' }],
    ['a kernel without id is left out: a row must be an object', 'row'],
    ['variants must be a list of objects, at least one', { ...row, variants: [] }],
    ['id belongs into each of the variants', { ...row, variants: [{ id: 'a' }] }]
  ])('one sentence: %s', (sentence, changed) => {
    expect(refused(changed)).toContain(sentence)
  })
})

describe('variants of a row', () => {
  const { id: _id, ...common } = row

  it('are the row with their own fields laid over it, constants merged', () => {
    const variants = [
      { id: 'a', summary: 'the first', constants: { DEPTH: 2 } },
      { id: 'b', constants: { TILE: 64 }, requires: [{ that: 'M > 1', message: 'M' }] }
    ]
    const rows = [{ ...common, constants: { TILE: 128, DEPTH: 1 }, variants }]
    const { sources, warnings } = readKernelManifests([folderWith(rows)])
    expect(warnings).toEqual([])
    expect(sources).toMatchObject([
      { id: 'a', summary: 'the first', constants: { TILE: 128, DEPTH: 2 }, requires: [] },
      { id: 'b', summary: 'a kernel', constants: { TILE: 64, DEPTH: 1 } }
    ])
    expect(sources[1]!.requires).toHaveLength(1)
  })

  it('a bad one costs that variant only', () => {
    const rows = [{ ...common, variants: [{ id: 'a', codes: 'loose' }, { id: 'b' }] }]
    const { sources, warnings } = readKernelManifests([folderWith(rows)])
    expect(sources.map(({ id }) => id)).toEqual(['b'])
    expect(warnings).toEqual([expect.stringContaining('kernel "a" is left out: codes must be')])
  })
})

describe('the format "all"', () => {
  it('is every format that no other entry names', () => {
    const formats = [
      { format: 'mixed', level: 'approximate', reason: 'by hand' },
      { format: 'all', level: 'exact', reason: 'the rest' }
    ]
    const { sources } = readKernelManifests([folderWith([{ ...row, formats }])])
    const found = sources[0]!.formats
    expect(found.map(({ format }) => format).sort()).toEqual(
      everyBlockFormat.map(({ id }) => id).sort()
    )
    expect(found.filter(({ reason }) => reason === 'by hand')).toHaveLength(1)
  })
})

it('a format that "all" is not to stand for is unavailable, with the reason', () => {
  const formats = [
    { format: 'mxfp4_b16', level: 'unavailable', reason: 'No instruction takes it.' },
    { format: 'all', level: 'native', reason: 'the rest' }
  ]
  const { sources } = readKernelManifests([folderWith([{ ...row, formats }])])
  const found = sources[0]!.formats.find(({ format }) => format === 'mxfp4_b16')
  expect(found).toMatchObject({ level: 'unavailable', reason: 'No instruction takes it.' })
  expect(sources[0]!.formats).toHaveLength(everyBlockFormat.length)
})

describe('the instruction that multiplies', () => {
  it('is named for all formats, or for one', () => {
    const formats = [
      { format: 'mxfp4', level: 'exact', reason: 'none', instruction: 'fp8' },
      { format: 'mxfp8', level: 'exact', reason: 'none' }
    ]
    const instructions = (changed: object) =>
      readKernelManifests([folderWith([{ ...row, ...changed }])]).sources[0]!.formats.map(
        ({ instruction }) => instruction
      )
    expect(instructions({})).toEqual([''])
    expect(instructions({ instruction: 'bf16' })).toEqual(['bf16'])
    expect(instructions({ instruction: 'bf16', formats })).toEqual(['fp8', 'bf16'])
  })
})

describe('the shipped kernels', () => {
  const { sources, warnings } = readKernelManifests([
    'resources/kernels/cuda',
    'resources/kernels/hip',
    'test/gpu/kernels'
  ])

  it('are all read, and the addon takes them as they are', () => {
    expect(warnings).toEqual([])
    expect(sources.length).toBeGreaterThan(10)
    const addon = loadTestAddon()
    expect(() => addon.configure({ kernelSources: sources, cacheDirectory: '' })).not.toThrow()
  })

  it('what is no row is a TypeError that says where', () => {
    const [first, ...others] = sources
    const broken = { ...first!, launches: [{ ...sources.at(-1)!.launches[0]!, grid: 'M' }] }
    expect(() =>
      loadTestAddon().configure({
        kernelSources: [...others, broken as unknown as typeof first & object],
        cacheDirectory: ''
      })
    ).toThrow(`kernelSources[${others.length}].launches[0].grid must be a list.`)
  })
})

describe('the scale layout of a kernel', () => {
  it('that is a file of the folder reaches the backend written out', () => {
    const named = { ...row, scaleLayout: 'layouts/own.json' }
    const folder = folderWith([named], { 'layouts/own.json': JSON.stringify(layout) })
    const { sources, warnings } = readKernelManifests([folder])
    expect(warnings).toEqual([])
    expect(sources[0]!.scaleLayout).toBe('own = r:0 ri:8 | c:0 | c r ri')
  })

  it('that is a name or written out goes through as it is', () => {
    const rows = ['nvidia_32_4_4', 'own = r:0 | c:0 | c r'].map((scaleLayout, i) => ({
      ...row,
      id: `k${i}`,
      scaleLayout
    }))
    const { sources } = readKernelManifests([folderWith(rows)])
    expect(sources.map((source) => source.scaleLayout)).toEqual(
      rows.map(({ scaleLayout }) => scaleLayout)
    )
  })

  it.each([
    ['no.json', 'for scaleLayout, its file "no.json" is not there.'],
    ['../own.json', 'for scaleLayout, its file "../own.json" lies outside the folder.'],
    ['/etc/own.json', 'for scaleLayout, its file "/etc/own.json" lies outside the folder.'],
    ['text.json', 'text.json is no usable layout: it is not JSON.'],
    ['short.json', 'order must name "c" exactly once'],
    ['folder.json', 'folder.json is a folder; name a file'],
    [3, 'scaleLayout must be text']
  ])('%j is refused with a sentence, and the other kernels stay', (scaleLayout, message) => {
    const folder = folderWith(
      [
        { ...row, scaleLayout },
        { ...row, id: 'other' }
      ],
      {
        'text.json': 'own = r:0',
        'short.json': JSON.stringify({ ...layout, order: 'r ri' }),
        'folder.json/a': ''
      }
    )
    const { sources, warnings } = readKernelManifests([folder])
    expect(sources.map(({ id }) => id)).toEqual(['other'])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(message)
    expect(warnings[0]).toMatch(/manifest\.json: /)
  })
})

describe('the example of a kernel with a layout of its own', () => {
  const folder = 'test/gpu/kernels/userLayout'
  const path = `${folder}/layouts/columnPairs.json`
  const own = parseUserLayout(readFileSync(path, 'utf8'), path)

  it('is read, and its layout is one that no registry has', () => {
    const { sources, warnings } = readKernelManifests([folder])
    expect(warnings).toEqual([])
    expect(sources.map(({ id }) => id)).toEqual(['user-layout', 'user-layout-mismatched'])
    expect(findLayout(sources[0]!.scaleLayout)).toMatchObject({ name: 'column_pairs' })
    expect(() => findLayout(own.name)).toThrow('is no scale layout')
  })

  it('has the index function that layout code prints', () => {
    const code = layoutCode(own, 'cpp').replace('constexpr', '__device__ constexpr')
    const lines = (text: string) => text.replace(/\s+/g, ' ')
    expect(lines(readFileSync(`${folder}/scaleOffset.cuh`, 'utf8'))).toContain(lines(code))
  })
})

describe('what rows say of their kernels', () => {
  it('stands with the kernels of a device: the error with the format that is approximate there', () => {
    const error = { normal: 1e-4 }
    const formats = [
      { format: 'mxfp8', level: 'approximate', reason: 'cut off', error },
      { format: 'mixed', level: 'approximate', reason: 'cut off', error: { positive: 2e-4 } }
    ]
    const { sources } = readKernelManifests([folderWith([{ ...row, formats }])])
    const other = makeKernel('other', () => 'approximate')
    const own = makeKernel(row.id, (format) => (format === 'mixed' ? 'unavailable' : 'approximate'))
    const [device] = withModels([{ kernels: [own, other] }], sources)
    const errors = device!.kernels.map(({ capabilities }) =>
      capabilities.flatMap((one) => (one.error ? [[one.format, one.error]] : []))
    )
    expect(errors).toEqual([[['mxfp8', error]], []])
    expect(device!.kernels[0]!.model!.requires).toEqual([])
    expect(device!.kernels[1]).toEqual(other)
  })
})
