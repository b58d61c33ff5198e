/** Tiles of decode beyond whole turns of all CTAs (docs/decode.md): what a launch is given for them, on GPUs of several sizes. */
import { expect, it } from 'vitest'
import { namesOf } from '@shared/choice/cost'
import type { Names } from '@shared/choice/expression'
import { kernelsOf } from './kernelsOfManifest'

const kernels = kernelsOf('sm_90')

function valuesOf(id: string, format: string, m: number, n: number, k: number, processors = 132) {
  const { model } = kernels.find((kernel) => kernel.id === id)!
  const problem = { format, m, n, k, output: 'bf16' }
  return namesOf(model!, problem, { m }, { processors, memoryGbs: 4814 })
}

/** Each part has stages and a CTA of its own, all other tiles are whole turns, and nothing but its kernel is for it. */
function isWhole(of: Names, processors: number): boolean {
  const { REST = 0, REST_PARTS = 0, SHARE = 0, STAGES = 0, PLACES = 0 } = of
  return (
    REST_PARTS > 1 &&
    (REST_PARTS - 1) * SHARE < STAGES &&
    REST_PARTS * SHARE >= STAGES &&
    REST_PARTS * REST <= processors &&
    PLACES % processors === REST &&
    of.CLUSTERS === processors &&
    of.PARTS === REST_PARTS &&
    [of.TILES, of.ACROSS, of.SCALE_ROWS].every((value) => value === 1) &&
    of.COPIED === 0
  )
}

it.each([
  ['decode', 'mixed'],
  ['decode', 'nvfp4'],
  ['decode', 'mxfp8'],
  ['decode-fp8', 'mxfp4']
])(
  '%s in %s: every part has stages and a CTA, and all other tiles are whole turns',
  (id, format) => {
    let found = 0
    const wrong: string[] = []
    for (const processors of [114, 132])
      for (const m of [17, 32, 33, 64])
        for (let n = 8200; n < 40000; n += 904)
          for (const k of [1024, 3072, 8192]) {
            const values = valuesOf(id, format, m, n, k, processors)
            if (values.REST === 0) continue
            found++
            if (!isWhole(values, processors)) wrong.push(`${m} x ${n} x ${k} on ${processors}`)
          }
    expect(wrong).toEqual([])
    expect(found).toBeGreaterThan(100)
  }
)

it('has the same of it in both rows, and up to 16 rows of A shares where they save stages enough', () => {
  const valueOf = (id: string, name: string) =>
    kernels.find((kernel) => kernel.id === id)!.model!.values!.find((value) => value.name === name)!
  for (const name of ['WHOLE_STAGES', 'BEYOND', 'TURNS_OF_TILES', 'MOST_PARTS', 'REST_PARTS'])
    expect(valueOf('decode', name).expression, name).toBe(valueOf('decode-fp8', name).expression)
  for (let n = 8520; n < 40000; n += 904)
    for (const k of [1024, 3072, 8192]) {
      const {
        REST,
        SHARE = 0,
        FAIR = 0,
        WHOLE = 0,
        ADDING = 0
      } = valuesOf('decode', 'mxfp8', 16, n, k)
      expect(REST).toBe(0)
      expect(SHARE > 0, `${n} x ${k}`).toBe(FAIR + ADDING < WHOLE)
    }
})

it('leaves shares of all stages where they are as fast, and pairs of tiles', () => {
  const restOf = (...problem: Parameters<typeof valuesOf>) => valuesOf(...problem).REST
  expect(restOf('decode', 'mixed', 32, 10240, 8192)).toBe(28)
  expect(restOf('decode', 'mxfp8', 32, 10240, 8192)).toBe(28)
  expect(restOf('decode-fp8', 'mxfp4', 64, 12288, 8192)).toBe(60)
  expect(restOf('decode', 'mixed', 8, 10240, 8192)).toBe(0)
  expect(restOf('decode', 'mixed', 16, 10240, 8192)).toBe(0)
  expect(restOf('decode-fp8', 'mxfp4', 16, 10240, 8192)).toBe(0)
  expect(restOf('decode', 'mixed', 64, 28672, 8192)).toBe(0)
  expect(restOf('decode', 'mixed', 64, 8192, 8192)).toBe(0)
  expect(restOf('decode', 'mixed', 65, 10240, 8192)).toBe(0)
})

it.each([
  ['decode', 'mixed'],
  ['decode-fp8', 'mxfp4']
])(
  '%s in %s: K in equal shares where tiles are too few for all CTAs, or their scales are copied',
  (id, format) => {
    for (const [n, k] of [
      [5120, 27648],
      [10240, 8224]
    ] as const) {
      const { REST, SHARE = 0, STAGES = 0 } = valuesOf(id, format, 32, n, k)
      expect(REST).toBe(0)
      expect(SHARE).toBeGreaterThan(STAGES / 2)
    }
  }
)
