import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeHatchet } from '@shared/profile/writeHatchet'
import { openProfileFile } from '../../../../src-main/cli/profileFiles'

const h200 = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
const folder = mkdtempSync(join(tmpdir(), 'profile-files-'))

describe('openProfileFile', () => {
  it('opens the profile of a run folder', () => {
    writeFileSync(join(folder, 'profile.hatchet'), readFileSync(h200))
    expect(writeHatchet(openProfileFile(folder).tree)).toBe(readFileSync(h200, 'utf8'))
  })

  it('reads files larger than a chunk, with a byte order mark, whatever they are called', () => {
    const levels = 200_000
    const node = '{"frame":{"name":"a node of a chain"},"metrics":{"time (ns)":1},"children":['
    const file = join(folder, 'large.txt')
    writeFileSync(file, `\uFEFF${node.repeat(levels)}${']}'.repeat(levels)}`)
    expect(openProfileFile(file).tree.count).toBe(levels)
  })

  it('says in one sentence what cannot be opened', () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    writeFileSync(join(folder, 'zero.hatchet'), '')
    expect(() => openProfileFile(join(folder, 'none'))).toThrow(/none does not exist\.$/)
    expect(() => openProfileFile(empty)).toThrow('is a folder without a profile.hatchet.')
    expect(() => openProfileFile(join(folder, 'zero.hatchet'))).toThrow('zero.hatchet is empty.')
  })
})
