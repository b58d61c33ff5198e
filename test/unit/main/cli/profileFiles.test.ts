import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeHatchet } from '@shared/profile/write/writeHatchet'
import { openProfileFile } from '../../../../src-main/cli/profileFiles'

const h200 = 'test/fixtures/h200/triton_mxfp8_h200.hatchet'
const folder = mkdtempSync(join(tmpdir(), 'profile-files-'))

describe('openProfileFile', () => {
  it('opens the profile of a folder without a run', async () => {
    writeFileSync(join(folder, 'profile.hatchet'), readFileSync(h200))
    expect(writeHatchet((await openProfileFile(folder)).tree)).toBe(readFileSync(h200, 'utf8'))
  })

  it('reads files larger than a chunk, with a byte order mark, whatever they are called', async () => {
    const levels = 200_000
    const node = '{"frame":{"name":"a node of a chain"},"metrics":{"time (ns)":1},"children":['
    const file = join(folder, 'large.txt')
    writeFileSync(file, `\uFEFF${node.repeat(levels)}${']}'.repeat(levels)}`)
    expect((await openProfileFile(file)).tree.count).toBe(levels)
  })

  it('says in one sentence what cannot be opened', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    writeFileSync(join(folder, 'zero.hatchet'), '')
    const opening = (name: string) => expect(openProfileFile(join(folder, name))).rejects
    await opening('none').toThrow(/none does not exist\.$/)
    await opening('empty').toThrow('is a folder without a run.json or profile.hatchet: name')
    await opening('zero.hatchet').toThrow('zero.hatchet is empty.')
  })
})
