/** Files that the page fetches from the main side in pieces, however large they are. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OpenedFiles, pieceBytes } from '../../../../src-main/jobs/openedFiles'
import { fetchOpened } from '../../../../src-renderer/client/openedFile'

const size = 2 * pieceBytes + 12_345
let folder: string
let file: string
let opened: OpenedFiles
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'blockscope-opened-'))
  file = join(folder, 'large.hatchet')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** As the app is handed it. */
async function handleOf(path: string): Promise<string> {
  opened = new OpenedFiles()
  opened.add(path)
  const abort = new AbortController()
  let found = ''
  await opened.watch(abort.signal, ({ handle }) => {
    found = handle
    queueMicrotask(() => abort.abort())
  })
  return found
}

describe('a file that was opened', () => {
  it('is fetched in pieces, whole', async () => {
    const bytes = new Uint8Array(size).map((_, i) => (i * 31) >> 5)
    writeFileSync(file, bytes)
    const handle = await handleOf(file)
    const pieces: number[] = []
    const fetched = await fetchOpened(async (input) => {
      const piece = await opened.read(input.handle, input.at)
      pieces.push(piece.bytes.length)
      return piece
    }, handle)
    expect(pieces).toEqual([pieceBytes, pieceBytes, 12_345])
    expect(fetched.name).toBe('large.hatchet')
    expect(Buffer.compare(Buffer.from(await fetched.file.arrayBuffer()), bytes)).toBe(0)
  })

  it('that grows meanwhile is as long as it was, and one that is cut says so', async () => {
    const handle = await handleOf(file)
    let reads = 0
    const grown = await fetchOpened(async (input) => {
      const piece = await opened.read(input.handle, input.at)
      if (reads++ === 0) truncateSync(file, size + 500)
      return piece
    }, handle)
    expect(grown.file.size).toBe(size)
    const cut = fetchOpened(async (input) => {
      const piece = await opened.read(input.handle, input.at)
      truncateSync(file, 10)
      return piece
    }, handle)
    await expect(cut).rejects.toThrow(/large\.hatchet became shorter while it was read/)
  })
})
