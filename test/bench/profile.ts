/**
 * Times of the profile library beside JSON.parse of the same file, in one run on one machine. Node counts may be given:
 * node out/bench/profile.js 1000 10000. Then a Kineto trace of 1 GB, or of --trace-mb 100. With --check, exits 1 when the
 * requirements at the largest size, or those of the trace, are not met.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ask } from '@shared/profile/ask/ask'
import { deriveMetric } from '@shared/profile/ask/deriveMetric'
import { diffTrees } from '@shared/profile/ask/diffTrees'
import { filterTree } from '@shared/profile/ask/filterTree'
import { printTreeLines } from '@shared/profile/write/printTree'
import type { ProfileTree } from '@shared/profile/tree/profileTree'
import { readHatchet } from '@shared/profile/read/readHatchet'
import { invertCalls } from '@shared/profile/ask/regroup'
import { visibleRows } from '@shared/profile/ask/visibleRows'
import { generateProfile } from './generateProfile'
import { measureTrace, type TraceTimes } from './trace'

interface Row {
  nodes: number
  megabytes: number
  parseMs: number
  loadMs: number
  rollUpMs: number
  filterMs: number
  thresholdMs: number
  rowsMs: number
  diffMs: number
  callersMs: number
  printMs: number
  peakMiB: number
}

const requirement = { loadOverParse: 3, filterMs: 200, peakMiB: 2048 }
const traceRequirement = { readOverParse: 1.5, peakMiB: 1000e6 / 2 ** 20 }

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { check: { type: 'boolean' }, 'trace-mb': { type: 'string', default: '1000' } }
  })
  const given = positionals.map(Number)
  const sizes = given.length > 0 ? given : [1_000, 10_000, 50_000, 1_000_000]
  const folder = mkdtempSync(join(tmpdir(), 'blockscope-bench-'))
  try {
    const rows = sizes.map((nodes) => measure(folder, nodes))
    print(rows)
    const traceMegabytes = Number(values['trace-mb'])
    const trace = traceMegabytes > 0 ? measureTrace(traceMegabytes) : null
    if (trace) printTrace(trace)
    if (!values.check) return
    const areMet = [check(rows[rows.length - 1]!), !trace || checkTrace(trace)]
    if (areMet.includes(false)) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function measure(folder: string, nodes: number): Row {
  const file = join(folder, `${nodes}.hatchet`)
  const other = join(folder, `${nodes}.other.hatchet`)
  generateProfile(file, nodes, 1)
  generateProfile(other, Math.ceil(nodes * 0.95), 2)
  const bytes = readFileSync(file)
  const [loadMs, tree] = timed(() => readHatchet(bytes, file))
  const [rollUpMs] = timed(() => {
    for (const metric of ['time/ms', 'tflop8/s', 'gbyte/s', 'util']) deriveMetric(tree, metric)
  })
  const peakMiB = process.resourceUsage().maxRSS / 1024
  // After ours: JSON.parse leaves a heap behind that would count as ours.
  const [parseMs] = timed(() => (JSON.parse(bytes.toString()) as unknown[]).length)
  const times = deriveMetric(tree, 'time/ms')
  const [filterMs] = timed(() => filterTree(tree, { include: 'matmul_mxfp4_3' }))
  const [thresholdMs] = timed(() =>
    filterTree(tree, { threshold: { values: times.values, atLeast: 0.9 } })
  )
  const [rowsMs] = timed(() =>
    visibleRows(tree, 'all', { sort: { by: 'metric', values: times.values, descending: true } })
  )
  const base = readHatchet(readFileSync(other), other)
  const [diffMs] = timed(() => diffTrees([base, tree], 'time/ms'))
  const [callersMs] = timed(() => invertCalls(tree))
  const [printMs] = timed(() => printLength(tree))
  const megabytes = statSync(file).size / 1e6
  return {
    nodes: tree.count,
    megabytes,
    parseMs,
    loadMs,
    rollUpMs,
    filterMs,
    thresholdMs,
    rowsMs,
    diffMs,
    callersMs,
    printMs,
    peakMiB
  }
}

function printLength(tree: ProfileTree): number {
  let length = 0
  for (const line of printTreeLines(ask(tree, { metrics: ['time/ms'] }))) length += line.length
  return length
}

function timed<T>(work: () => T): [number, T] {
  const start = performance.now()
  const result = work()
  return [performance.now() - start, result]
}

function print(rows: readonly Row[]): void {
  const columns: [string, (row: Row) => string][] = [
    ['nodes', (row) => String(row.nodes)],
    ['MB', (row) => row.megabytes.toFixed(1)],
    ['JSON.parse ms', (row) => row.parseMs.toFixed(1)],
    ['load ms', (row) => row.loadMs.toFixed(1)],
    ['roll-up ms', (row) => row.rollUpMs.toFixed(1)],
    ['x JSON.parse', (row) => ((row.loadMs + row.rollUpMs) / row.parseMs).toFixed(2)],
    ['filter ms', (row) => row.filterMs.toFixed(1)],
    ['threshold ms', (row) => row.thresholdMs.toFixed(1)],
    ['sorted rows ms', (row) => row.rowsMs.toFixed(1)],
    ['diff ms', (row) => row.diffMs.toFixed(1)],
    ['callers ms', (row) => row.callersMs.toFixed(1)],
    ['print ms', (row) => row.printMs.toFixed(1)],
    ['peak MiB', (row) => row.peakMiB.toFixed(0)]
  ]
  console.log(columns.map(([title]) => title.padStart(14)).join(''))
  for (const row of rows) console.log(columns.map(([, cell]) => cell(row).padStart(14)).join(''))
}

function printTrace({ megabytes, readMs, parseMs, peakMiB }: TraceTimes): void {
  const perByte = (ms: number) => `${((ms * 1e6) / (megabytes * 1e6)).toFixed(1)} ns/byte`
  console.log(
    `Kineto trace of ${megabytes.toFixed(0)} MB: read in ${perByte(readMs)}, JSON.parse in pieces ${perByte(parseMs)}, ${(readMs / parseMs).toFixed(2)}x; peak ${peakMiB.toFixed(0)} MiB`
  )
}

function checkTrace({ readMs, parseMs, peakMiB }: TraceTimes): boolean {
  const { readOverParse, peakMiB: allowed } = traceRequirement
  return holdAll([
    [`a trace within ${readOverParse}x JSON.parse in pieces`, readMs <= readOverParse * parseMs],
    [`a trace within ${allowed.toFixed(0)} MiB`, peakMiB <= allowed]
  ])
}

function check(row: Row): boolean {
  return holdAll([
    [
      `load and roll-up within ${requirement.loadOverParse}x JSON.parse`,
      row.loadMs + row.rollUpMs <= requirement.loadOverParse * row.parseMs
    ],
    [`peak memory within ${requirement.peakMiB} MiB`, row.peakMiB <= requirement.peakMiB],
    [`filter under ${requirement.filterMs} ms`, row.filterMs < requirement.filterMs]
  ])
}

function holdAll(results: readonly [string, boolean][]): boolean {
  for (const [what, holds] of results) console.log(`${holds ? 'holds' : 'FAILS'}: ${what}`)
  return results.every(([, holds]) => holds)
}

main()
