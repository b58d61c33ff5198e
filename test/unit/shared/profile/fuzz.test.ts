import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { openProfile } from '@shared/profile/read/openProfile'
import { readers } from '@shared/profile/read/readers'
import { sniffFormat } from '@shared/profile/read/sniffFormat'
import { csvLines } from '@shared/profile/write/writeCsv'
import { jsonPieces } from '@shared/profile/write/writeJson'
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
import { testLimit } from '../../../support/patience'
import { rocprofJson } from '../../../support/rocprofJson'
import { foreignProfiles } from '../../../support/foreignProfiles'
import { sampleRun } from '../../../support/sampleRun'
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
/** The forms of convert that nothing else writes. */
const exportsOf = (bytes: Uint8Array): Uint8Array[] => {
  const { tree } = openProfile(bytes, 'fixture')
  return [jsonPieces, csvLines].map((write) => bytesOf([...write(tree, (name) => name)].join('')))
}
const otherForms = [
  bytesOf(JSON.stringify(rocprofJson())),
  bytesOf(agents + kernels + calls + markers + copies),
  bytesOf(ncuRaw),
  bytesOf(JSON.stringify(nvbenchFile)),
  bytesOf(JSON.stringify(sampleRun())),
  ...exportsOf(readFileSync('test/fixtures/proton/synthetic/modern_a.hatchet')),
  Buffer.concat([...syntheticShard({ launches: 40, kernels: 2, shapesOfKernel: 2, paths: 3 })])
]

const inputs = [
  ...files.map((file) => readFileSync(file)),
  ...otherForms,
  ...foreignProfiles.map(({ bytes }) => bytes())
]

it('every reader has a file here to damage', () => {
  const formOf = (bytes: Uint8Array) => {
    const plain = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
    const found = sniffFormat(plain, true)
    return found && 'reader' in found ? found.reader.name : 'none'
  }
  const forms = new Set(inputs.map(formOf))
  expect(readers.map(({ name }) => name).filter((name) => !forms.has(name))).toEqual([])
})

describe('damaged profiles', () => {
  it(
    'open or are refused with a sentence, and change no prototype',
    { timeout: seconds * 1000 + testLimit },
    () => {
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
