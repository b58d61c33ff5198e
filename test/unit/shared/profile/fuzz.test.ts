import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { mutate, randomSource } from '../../../fuzz/mutate'
import { tryProfile } from '../../../fuzz/profileTarget'
import {
  agents,
  calls,
  copies,
  kernels,
  markers,
  ncuRaw,
  nvbenchFile
} from '../../../support/gpuToolFiles'
import { rocprofJson } from '../../../support/rocprofJson'
import { foreignProfiles } from '../../../support/foreignProfiles'
import { syntheticShard } from '../../../support/syntheticShard'

/** Longer and with other seeds: BLOCKSCOPE_FUZZ_SECONDS=600 BLOCKSCOPE_FUZZ_SEED=7. */
const seconds = Number(process.env.BLOCKSCOPE_FUZZ_SECONDS ?? 5)
const seed = Number(process.env.BLOCKSCOPE_FUZZ_SEED ?? 1)
/** Fixtures are small: a single one that takes this long hangs, for a person. */
const slowestMs = 2000

const files = ['proton', 'h200', 'databases']
  .map((folder) => join('test/fixtures', folder))
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) =>
        /\.(hatchet|hatchet_msgpack|chrome_trace|json|db)$|^nsys-.*sqlite$/.test(name)
      )
      .filter((name) => name !== 'expected.json')
      .map((name) => join(folder, name))
  )

const bytesOf = (text: string) => new TextEncoder().encode(text)
const otherForms = [
  bytesOf(JSON.stringify(rocprofJson())),
  bytesOf(agents + kernels + calls + markers + copies),
  bytesOf(ncuRaw),
  bytesOf(JSON.stringify(nvbenchFile)),
  Buffer.concat([...syntheticShard({ launches: 40, kernels: 2, shapesOfKernel: 2, paths: 3 })])
]

describe('damaged profiles', () => {
  it(
    'open or are refused with a sentence, and change no prototype',
    { timeout: seconds * 1000 + 30_000 },
    () => {
      const inputs = [
        ...files.map((file) => readFileSync(file)),
        ...otherForms,
        ...foreignProfiles.map(({ bytes }) => bytes())
      ]
      inputs.forEach((bytes) => expect(tryProfile(bytes)).toBe('opened'))
      const random = randomSource(seed)
      const outcomes = { opened: 0, refused: 0 }
      const stop = performance.now() + seconds * 1000
      while (performance.now() < stop) {
        const bytes = mutate(inputs[random(inputs.length)]!, random)
        const start = performance.now()
        try {
          outcomes[tryProfile(bytes)]++
        } catch (error) {
          const found = Buffer.from(bytes).toString('base64')
          throw new Error(`A damaged profile was not refused. In base64: ${found}`, {
            cause: error
          })
        }
        expect(performance.now() - start).toBeLessThan(slowestMs)
      }
      expect(outcomes.opened).toBeGreaterThan(20)
      expect(outcomes.refused).toBeGreaterThan(100)
    }
  )
})
