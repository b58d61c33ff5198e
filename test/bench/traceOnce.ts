/**
 * One reading of a Kineto trace, or one parsing of it by JSON.parse in pieces, as the program of a process of its own: node
 * out/bench/traceOnce.js read|parse FILE. Prints processor time, peak memory and what was found, as JSON.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { ProfileReader } from '@shared/profile/read/openProfile'
import { numberColumn } from '@shared/profile/tree/profileTree'
import type { TraceOnce } from './trace'

const chunkBytes = 4 << 20

function* chunksOf(file: string): Generator<Uint8Array> {
  const handle = openSync(file, 'r')
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    const size = readSync(handle, chunk, 0, chunk.length, null)
    if (size === 0) break
    yield chunk.subarray(0, size)
  }
  closeSync(handle)
}

function read(file: string): number {
  const reader = new ProfileReader(file)
  for (const chunk of chunksOf(file)) reader.write(chunk)
  const { tree } = reader.finish()
  return numberColumn(tree, 'time (ns)')!.values.reduce((sum, value) => sum + value, 0)
}

/** The least that a reader by JSON.parse does: the text of some events at a time, and their objects. */
function parse(file: string): number {
  const decoder = new TextDecoder()
  const between = '\n  },\n'
  let left = ''
  let events = 0
  for (const chunk of chunksOf(file)) {
    const text = left + decoder.decode(chunk, { stream: true })
    const end = text.lastIndexOf(between)
    const start = events === 0 ? text.indexOf('"traceEvents": [') + '"traceEvents": ['.length : 0
    events += (JSON.parse(`[${text.slice(start, end)}}]`) as unknown[]).length
    left = text.slice(end + between.length)
  }
  return events
}

const [what, file] = process.argv.slice(2) as ['read' | 'parse', string]
const before = process.cpuUsage()
const found = what === 'read' ? read(file) : parse(file)
const { user, system } = process.cpuUsage(before)
const peakMiB = process.resourceUsage().maxRSS / 1024
const result: TraceOnce = { cpuMs: (user + system) / 1000, peakMiB, found }
console.log(JSON.stringify(result))
