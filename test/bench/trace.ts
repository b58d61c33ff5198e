/**
 * Reading of a large Kineto trace beside JSON.parse of the same file in pieces, in turn, each in a process of its own so that
 * peak memory is its own (traceOnce.ts).
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { generateKineto } from './generateKineto'

export interface TraceTimes {
  megabytes: number
  /** Processor time in ms; on a shared machine it says more than a clock. */
  readMs: number
  parseMs: number
  peakMiB: number
}

export interface TraceOnce {
  cpuMs: number
  peakMiB: number
  /** Kernel time in ns, or events parsed. */
  found: number
}

const rounds = 3

/** Medians over rounds of both in turn. @throws Error when a kernel's time was lost */
export function measureTrace(megabytes: number): TraceTimes {
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-trace-'))
  try {
    const file = join(folder, 'trace.json')
    const { kernelNs } = generateKineto(file, megabytes * 1e6)
    const reads: TraceOnce[] = []
    const parses: TraceOnce[] = []
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

function inProcess(what: 'read' | 'parse', file: string): TraceOnce {
  // Beside the program that runs: this file may be a part of it.
  const script = join(dirname(process.argv[1]!), 'traceOnce.js')
  return JSON.parse(execFileSync(process.execPath, [script, what, file]).toString()) as TraceOnce
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!
}
