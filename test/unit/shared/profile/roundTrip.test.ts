/** Every export opens again as what it was made from, as far as its form can hold it (docs/profiles.md). */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { weightMetric } from '@shared/profile/ask/weightMetric'
import { openProfile, type OpenedProfile } from '@shared/profile/read/openProfile'
import {
  nodeName,
  numberColumn,
  ownText,
  ownValue,
  pathOf,
  type ProfileTree
} from '@shared/profile/tree/profileTree'
import { chromeTracePieces } from '@shared/profile/write/writeChromeTrace'
import { csvLines } from '@shared/profile/write/writeCsv'
import { foldedLines } from '@shared/profile/write/writeFolded'
import { hatchetPieces, writeHatchet } from '@shared/profile/write/writeHatchet'
import { hatchetMsgpackPieces } from '@shared/profile/write/writeHatchetMsgpack'
import { jsonPieces } from '@shared/profile/write/writeJson'
import { speedscopePieces } from '@shared/profile/write/writeSpeedscope'
import { formats } from '../../../../src-main/cli/convert'
import { samplePerfetto, sampleXspace } from '../../../support/foreignProfiles'

/** One test each, below; a form that convert learns has none until it stands here. */
const tested = ['hatchet', 'hatchet_msgpack', 'folded', 'csv', 'json', 'chrome_trace', 'speedscope']
it('every form that convert writes goes round', () => {
  expect([...formats].sort()).toEqual([...tested].sort())
})

/** A trace's times are decimal microseconds: what comes back is the same picosecond. */
const picoseconds = (ns: number) => Math.round(ns * 1000)
const asIs = (name: string) => name
const reopen = (pieces: Iterable<string | Uint8Array>) =>
  openProfile(Buffer.concat(Array.from(pieces, (piece) => Buffer.from(piece as string))), 'export')

const event = (cat: string, name: string, ts: number, dur: number, args: object = {}) => ({
  ph: 'X',
  cat,
  name,
  pid: cat === 'kernel' ? 0 : 42,
  tid: 1,
  ts,
  dur,
  args
})
const pytorch = JSON.stringify({
  traceEvents: [
    event('cpu_op', 'aten::mm; "a", b', 10, 40, { 'External id': 8 }),
    event('cuda_runtime', 'cudaLaunchKernel', 20, 5, { correlation: 100 }),
    event('kernel', 'void gemm<float>(int)', 30, 60, { correlation: 100, grid: [8, 4, 1] }),
    event('kernel', 'orphan', 95, 3.5, { correlation: 555 })
  ]
})

const trees: [string, OpenedProfile][] = (
  [
    ['Proton', readFileSync('test/fixtures/proton/synthetic/modern_a.hatchet')],
    ['Proton on an H200', readFileSync('test/fixtures/h200/triton_mxfp8_h200.hatchet')],
    ['a run', readFileSync('test/fixtures/runs/h200-8192/run.json')],
    ['PyTorch', new TextEncoder().encode(pytorch)],
    ['JAX', sampleXspace()],
    ['Perfetto', samplePerfetto()]
  ] as [string, Uint8Array][]
).map(([name, bytes]) => [name, openProfile(bytes, name)])

/** Names and parents in order, own values and texts: what the forms of rows hold. */
function rowsOf(tree: ProfileTree) {
  const numbers = [...tree.numbers].sort((a, b) => (a.name < b.name ? -1 : 1))
  const texts = [...tree.texts].sort((a, b) => (a.name < b.name ? -1 : 1))
  return Array.from({ length: tree.count }, (_, node) => ({
    path: pathOf(tree, node),
    parent: tree.parent[node],
    numbers: numbers.flatMap((column) =>
      column.written[node] ? [[column.name, column.values[node]]] : []
    ),
    texts: texts.flatMap((column) =>
      column.values[node]! >= 0 ? [[column.name, ownText(tree, column, node)]] : []
    )
  }))
}

/** Own values of a metric by path, where they round to one or more. */
function weightsOf(tree: ProfileTree, metric: string): Map<string, number> {
  const found = new Map<string, number>()
  for (let node = 0; node < tree.count; node++) {
    const path = pathOf(tree, node).join(' > ').replace(/;/g, ':')
    const value = Math.round(ownValue(numberColumn(tree, metric), node))
    if (value > 0) found.set(path, (found.get(path) ?? 0) + value)
  }
  return found
}

describe.each(trees)('%s goes round', (_, { tree, timeline }) => {
  it('as .hatchet, byte for byte', () => {
    expect(writeHatchet(reopen(hatchetPieces(tree)).tree)).toBe(writeHatchet(tree))
  })

  it('as .hatchet_msgpack, all that .hatchet holds', () => {
    expect(writeHatchet(reopen(hatchetMsgpackPieces(tree)).tree)).toBe(writeHatchet(tree))
  })

  it('as a Chrome trace, with its timeline', () => {
    const again = reopen(chromeTracePieces(tree, timeline, asIs))
    expect(writeHatchet(again.tree)).toBe(writeHatchet(tree))
    if (!timeline) return
    expect(again.timeline!.count).toBe(timeline.count)
    const events = ({ tree: of, timeline: events }: OpenedProfile) =>
      Array.from(events!.node, (node, at) => [
        nodeName(of, node),
        events!.strings.text(events!.name[at]!),
        picoseconds(events!.startNs[at]!),
        picoseconds(events!.durationNs[at]!)
      ])
    expect(events(again)).toEqual(events({ tree, timeline }))
  })

  it('as JSON', () => {
    const again = reopen(jsonPieces(tree, asIs)).tree
    expect(rowsOf(again)).toEqual(rowsOf(tree))
    expect(again.devices).toEqual(tree.devices)
  })

  it('as CSV', () => {
    expect(rowsOf(reopen(csvLines(tree, asIs)).tree)).toEqual(rowsOf(tree))
  })

  it('as folded stacks, the values of one metric', () => {
    const again = reopen(foldedLines(tree, asIs)).tree
    expect(weightsOf(again, 'samples')).toEqual(weightsOf(tree, weightMetric(tree)))
  })

  it('as speedscope, the values of one metric', () => {
    const metric = weightMetric(tree)
    const again = weightsOf(reopen(speedscopePieces(tree, 'x', asIs)).tree, metric)
    const [was, is] = [weightsOf(tree, metric), new Map<string, number>()]
    // The form's frames keep their semicolons; edges are whole units, so that a value may be one off.
    for (const [path, value] of again) is.set(path, value)
    for (const [path, value] of was)
      expect(Math.abs((is.get(path) ?? 0) - value), path).toBeLessThanOrEqual(1)
    for (const path of is.keys()) expect(was.has(path) || is.get(path) === 1, path).toBe(true)
  })
})
