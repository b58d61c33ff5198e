/**
 * Reading of a large Kineto trace beside JSON.parse of the same file in pieces, in turn, each in a process of its own so that
 * peak memory is its own: node out/bench/trace.js read|parse FILE does one and prints it as JSON.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ProfileReader } from '@shared/profile/read/openProfile'
import { numberColumn } from '@shared/profile/tree/profileTree'
import { generateKineto } from './generateKineto'

export interface TraceTimes {
  megabytes: number
  /** Processor time in ms; on a shared machine it says more than a clock. */
  readMs: number
  parseMs: number
  peakMiB: number
}

interface One {
  cpuMs: number
  peakMiB: number
  /** Kernel time in ns, or events parsed. */
  found: number
}

const chunkBytes = 4 << 20
const rounds = 3

/** Medians over rounds of both in turn. @throws Error when a kernel's time was lost */
export function measureTrace(megabytes: number): TraceTimes {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-trace-'))
  try {
    const file = join(folder, 'trace.json')
    const { kernelNs } = generateKineto(file, megabytes * 1e6)
    const reads: One[] = []
    const parses: One[] = []
    for (let round = 0; round < rounds; round++) {
      parses.push(inProcess('parse', file))
      reads.push(inProcess('read', file))
    }
    if (reads.some(({ found }) => found !== kernelNs))
      throw new Error(`The kernels take ${kernelNs} ns; ${reads[0]!.found} ns were read.`)
    return {
      megabytes: statSync(file).size / 1e6,
      readMs: median(reads.map(({ cpuMs }) => cpuMs)),
      parseMs: median(parses.map(({ cpuMs }) => cpuMs)),
      peakMiB: Math.max(...reads.map(({ peakMiB }) => peakMiB))
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function inProcess(what: 'read' | 'parse', file: string): One {
  const script = fileURLToPath(new URL('./trace.js', import.meta.url))
  return JSON.parse(execFileSync(process.execPath, [script, what, file]).toString()) as One
}

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

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!
}

const [what, file] = process.argv.slice(2)
if (process.argv[1] === fileURLToPath(import.meta.url) && what && file) {
  const before = process.cpuUsage()
  const found = what === 'read' ? read(file) : parse(file)
  const { user, system } = process.cpuUsage(before)
  const peakMiB = process.resourceUsage().maxRSS / 1024
  console.log(JSON.stringify({ cpuMs: (user + system) / 1000, peakMiB, found }))
}
