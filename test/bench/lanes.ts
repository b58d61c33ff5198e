/**
 * What the Timeline view asks of its worker, on ten million slices: `npm run bench:lanes` (-- --slices N, -- --check). A scene has
 * to be there within a frame, 16.7 ms, at every zoom; the page draws the one before it meanwhile.
 */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { FoundSlices } from '@shared/profile/lanes/findSlices'
import { deviceGaps } from '@shared/profile/lanes/gaps'
import { groupsBy } from '@shared/profile/lanes/groups'
import { lanesOf, type Lanes } from '@shared/profile/lanes/lanes'
import { overviewOf } from '@shared/profile/lanes/overview'
import { rangeSums, workLanes } from '@shared/profile/lanes/rangeSums'
import { AllRowSums } from '@shared/profile/lanes/rowSums'
import { sceneOf } from '@shared/profile/lanes/scene'
import { StringTable } from '@shared/profile/tree/stringTable'
import type { Timeline } from '@shared/profile/tree/timeline'

const width = 1600
const frameMs = 1000 / 60
const streams = 8
const names = 400

function generated(count: number): Timeline {
  const strings = new StringTable()
  const kernel = strings.intern('kernel')
  const ids = Array.from({ length: names }, (_, at) => strings.intern(`kernel_${at}`))
  let state = 14
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  const freeNs = new Float64Array(streams)
  const timeline: Timeline = {
    count,
    strings,
    name: new Int32Array(count),
    category: new Int32Array(count).fill(kernel),
    lane: new Int32Array(count),
    startNs: new Float64Array(count),
    durationNs: new Float64Array(count),
    node: new Int32Array(count).fill(-1),
    correlation: new Float64Array(count).fill(NaN),
    bytes: new Float64Array(count).fill(NaN),
    facts: new Int32Array(count).fill(-1),
    lanes: Array.from({ length: streams }, (_, at) => ({
      ...{ name: `stream ${at}`, process: 'python', processId: '0', processLabel: 'GPU 0' }
    })),
    flows: [],
    baseTimeNs: null
  }
  for (let slice = 0; slice < count; slice++) {
    const lane = Math.floor(random() * streams)
    const durationNs = 10 ** (2 + 2.5 * random())
    timeline.lane[slice] = lane
    timeline.name[slice] = ids[Math.floor(random() * names)]!
    timeline.startNs[slice] = freeNs[lane]! += 400 * random()
    timeline.durationNs[slice] = durationNs
    freeNs[lane]! += durationNs
  }
  return timeline
}

function timed<T>(work: () => T): [T, number] {
  const began = performance.now()
  const result = work()
  return [result, performance.now() - began]
}

function scenes(
  sums: AllRowSums,
  lanes: Lanes
): { median: number; slowest: number; boxes: number } {
  const rows = lanes.rows.map((_, row) => row)
  const times: number[] = []
  let boxes = 0
  for (let zoom = 0; zoom < 30; zoom++) {
    const length = Math.max(10, lanes.lengthNs / 2.2 ** zoom)
    for (const at of [0, 0.37, 0.61, 0.99]) {
      const startNs = (lanes.lengthNs - length) * at
      const query = { startNs, endNs: startNs + length, width, rows }
      const [scene, ms] = timed(() => sceneOf(sums, query, null))
      times.push(ms)
      boxes = Math.max(boxes, scene.count)
    }
  }
  times.sort((a, b) => a - b)
  return { median: times[times.length >> 1]!, slowest: times[times.length - 1]!, boxes }
}

function main(): void {
  const { values } = parseArgs({
    options: {
      slices: { type: 'string', default: '10000000' },
      check: { type: 'boolean', default: false }
    }
  })
  const timeline = generated(Number(values.slices))
  const [lanes, toLanes] = timed(() => lanesOf(timeline))
  const groups = groupsBy(timeline, ['a', 'b', 'c', 'd', 'e', 'f', 'g'], (name) => name.length % 7)
  const sums = new AllRowSums(lanes, groups)
  const [, toSums] = timed(() => lanes.rows.forEach((_, row) => sums.of(row)))
  scenes(sums, lanes)
  const scene = scenes(sums, lanes)
  const among = workLanes(lanes)
  const [, overview] = timed(() => overviewOf(sums, among, width))
  const whole = { startNs: 0, endNs: lanes.lengthNs }
  const [range, toRange] = timed(() => rangeSums(sums, whole, among))
  const [gaps, toGaps] = timed(() => deviceGaps(lanes))
  const [found, search] = timed(() => new FoundSlices(lanes, 'kernel_17'))
  const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`
  const seconds = (lanes.lengthNs / 1e9).toFixed(1)
  console.log(
    [
      `${timeline.count} slices on ${lanes.rows.length} rows, ${seconds} s; node ${process.version}`,
      `rows of lanes                ${ms(toLanes)}`,
      `sums of rows                 ${ms(toSums)}`,
      `scene, ${width} px, all zooms    ${ms(scene.median)} median, ${ms(scene.slowest)} slowest, at most ${scene.boxes} boxes`,
      `overview                     ${ms(overview)}`,
      `sums by kernel of the whole  ${ms(toRange)}, ${range.names.length} names`,
      `idle times                   ${ms(toGaps)}, ${gaps.startNs.length} found`,
      `search                       ${ms(search)}, ${found.count} found`
    ].join('\n')
  )
  if (values.check && scene.median > frameMs) {
    console.error(`A scene takes ${ms(scene.median)}, more than a frame of ${ms(frameMs)}.`)
    process.exitCode = 1
  }
}

main()
