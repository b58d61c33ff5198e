import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HatchetParser, readHatchet } from '@shared/profile/read/readHatchet'
import { writeHatchet } from '@shared/profile/write/writeHatchet'

const fixtures = 'test/fixtures'
const hatchetFiles = ['proton', 'h200'].flatMap((folder) =>
  readdirSync(join(fixtures, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.hatchet') || name.endsWith('.json'))
    .map((name) => join(fixtures, folder, name))
)

describe('.hatchet', () => {
  it('finds the fixtures', () => expect(hatchetFiles.length).toBeGreaterThan(20))

  it.each(hatchetFiles)('%s is written back equal', (file) => {
    const bytes = readFileSync(file)
    expect(JSON.parse(writeHatchet(readHatchet(bytes, file)))).toEqual(JSON.parse(bytes.toString()))
  })

  it.each(hatchetFiles.filter((file) => /generated|h200/.test(file)))(
    '%s, which Proton wrote, is written back byte for byte',
    (file) => {
      const bytes = readFileSync(file)
      expect(writeHatchet(readHatchet(bytes, file))).toBe(bytes.toString())
    }
  )

  it('reads the same from chunks of any size', () => {
    const file = join(fixtures, 'h200/triton_mxfp8_h200.hatchet')
    const bytes = readFileSync(file)
    for (const size of [1, 2, 3, 7, 64, 1000]) {
      const parser = new HatchetParser(file)
      for (let at = 0; at < bytes.length; at += size) parser.write(bytes.subarray(at, at + size))
      expect(writeHatchet(parser.finish())).toBe(bytes.toString())
    }
  })
})
