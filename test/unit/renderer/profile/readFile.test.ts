import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { readFile } from '../../../../src-renderer/workers/readFile'

const whole = readFileSync('test/fixtures/h200/triton_mxfp8_h200.hatchet')

/** A file that counts what is taken of it, one chunk at a time. */
function streamed(bytes: Uint8Array, chunkBytes: number, failsAt = Infinity) {
  const state = { given: 0, cancelled: false }
  const stream = () =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (state.given >= failsAt) return controller.error(new Error('it is gone'))
          if (state.given >= bytes.length) return controller.close()
          controller.enqueue(bytes.slice(state.given, state.given + chunkBytes))
          state.given += chunkBytes
        },
        cancel() {
          state.cancelled = true
        }
      },
      { highWaterMark: 0 }
    )
  return { file: { size: bytes.length, stream } as unknown as Blob, state }
}

describe('a file of the person', () => {
  it('is read as it streams in, gzipped or not, and says how far it is', async () => {
    const fractions: number[] = []
    const trace = new TextEncoder().encode(
      JSON.stringify({
        traceEvents: [{ ph: 'X', name: 'a', pid: 1, tid: 1, ts: 1, dur: 2 }],
        pad: ' '.repeat(3 << 20)
      })
    )
    const opened = await readFile(streamed(trace, 1 << 20).file, 't.json', (now) =>
      fractions.push(now)
    )
    expect(opened.timeline!.count).toBe(1)
    expect(fractions.length).toBeGreaterThan(2)
    expect(fractions.at(-1)).toBe(1)
    const zipped = await readFile(streamed(gzipSync(whole), 1000).file, 'a.gz', () => undefined)
    const plain = await readFile(streamed(whole, 1000).file, 'a', () => undefined)
    expect(zipped.tree.count).toBe(plain.tree.count)
  })

  it('that is damaged is read no further, and the error names what it was read as', async () => {
    const bytes = Buffer.concat([Buffer.from('[{"frame": oops'), Buffer.alloc(1 << 20, ' ')])
    const { file, state } = streamed(bytes, 64)
    await expect(readFile(file, 'half.hatchet', () => undefined)).rejects.toThrow(
      /half\.hatchet: line 1, byte \d+: .*It was read as hatchet JSON\./
    )
    expect(state.cancelled).toBe(true)
    expect(state.given).toBeLessThan(1000)
    await expect(
      readFile(streamed(whole.subarray(0, 5000), 1000).file, 'half', () => undefined)
    ).rejects.toThrow(/cut short.*It was read as hatchet JSON\./)
    await expect(
      readFile(streamed(Buffer.from([1, 2]), 10).file, 'x.png', () => undefined)
    ).rejects.toThrow(/x\.png is not a profile that is read here/)
  })

  it('that goes away while it is read is said to', async () => {
    const { file } = streamed(whole, 1000, 3000)
    await expect(readFile(file, 'a.hatchet', () => undefined)).rejects.toThrow(
      'a.hatchet could not be read to its end (it is gone)'
    )
  })
})
