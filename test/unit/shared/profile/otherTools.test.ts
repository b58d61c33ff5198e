/** Profiles of other tools: what is kept of each form, and that no sum is lost. */
import { Session } from 'node:inspector/promises'
import { gzipSync, zlibSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { openProfile } from '@shared/profile/read/openProfile'
import {
  numberColumn,
  ownText,
  pathOf,
  textColumn,
  type ProfileTree
} from '@shared/profile/tree/profileTree'
import * as sample from '../../../support/foreignProfiles'
import { perfettoTrace } from '../../../support/protobufFiles'

/** Own values by path, ROOT left out. */
function valuesOf(tree: ProfileTree, metric: string): Record<string, number> {
  const column = numberColumn(tree, metric)
  const found: [string, number][] = []
  for (let node = 0; node < tree.count; node++) {
    if (column?.written[node] && column.values[node] !== 0)
      found.push([pathOf(tree, node).slice(1).join(' > '), column.values[node]!])
  }
  return Object.fromEntries(found)
}

function textAt(tree: ProfileTree, path: string, property: string): string {
  const node = Array.from({ length: tree.count }, (_, at) => at).find(
    (at) => pathOf(tree, at).slice(1).join(' > ') === path
  )
  return ownText(tree, textColumn(tree, property), node!)
}

const text = (value: string) => new TextEncoder().encode(value)

describe('a Perfetto trace', () => {
  it('is slices on tracks: interned names, defaults, own clocks', () => {
    const { tree, timeline } = openProfile(sample.samplePerfetto(), 'a.pftrace')
    expect(tree.format).toBe('perfetto')
    expect(valuesOf(tree, 'time (ns)')).toEqual({
      'trainer > main > step': 700,
      'trainer > main > step > forward': 300,
      'trainer > stream 7 > gemm': 600,
      'trainer > stream 7 > reduce': 2000
    })
    expect(textAt(tree, 'trainer > main > step', 'batch')).toBe('32')
    expect(timeline!.lanes.map(({ name, process }) => [process, name]).sort()).toEqual([
      ['trainer', 'main'],
      ['trainer', 'stream 7']
    ])
    const { strings, category, name } = timeline!
    const events = Array.from(name, (id, at) => [strings.text(id), strings.text(category[at]!)])
    expect(events).toContainEqual(['step', 'python'])
    expect(timeline!.startNs[Array.from(name, (id) => strings.text(id)).indexOf('reduce')]).toBe(
      4000
    )
    expect(tree.warnings).toEqual([
      '1 instants were passed over.',
      "1 packets of the kernel's ftrace were passed over."
    ])
  })

  it('reads the same in pieces of any size, zipped and in compressed packets', () => {
    const bytes = sample.samplePerfetto()
    const whole = valuesOf(openProfile(bytes, 'a').tree, 'time (ns)')
    expect(valuesOf(openProfile(gzipSync(bytes), 'a').tree, 'time (ns)')).toEqual(whole)
    const packed = perfettoTrace([
      { trusted_packet_sequence_id: 1, timestamp: 1 },
      { compressed_packets: zlibSync(bytes) }
    ])
    expect(valuesOf(openProfile(packed, 'a').tree, 'time (ns)')).toEqual(whole)
  })

  it('says what else it holds when it has no slices, and where it is cut', () => {
    const ftrace = perfettoTrace([
      { timestamp: 5, trusted_packet_sequence_id: 3, ftrace_events: { cpu: 0 } }
    ])
    expect(() => openProfile(ftrace, 'a.pftrace')).toThrow(/no slices of track events.*ftrace/)
    const cut = sample.samplePerfetto().slice(0, -3)
    expect(() => openProfile(cut, 'a.pftrace')).toThrow(/byte \d+: the protobuf message is damaged/)
  })
})

describe('an XSpace', () => {
  const opened = () => openProfile(sample.sampleXspace(), 'host.xplane.pb')

  it('has the time of streams on the GPU, that of threads on the CPU', () => {
    const { tree } = opened()
    expect(valuesOf(tree, 'time (ns)')).toEqual({
      '/device:GPU:0 > Stream #13(Compute) > gemm_fusion_dot_1': 3001,
      '/device:GPU:0 > Stream #13(Compute) > MemcpyH2D': 250
    })
    expect(valuesOf(tree, 'cpu_time (ns)')).toMatchObject({
      '/host:CPU > python > train_step': 9000,
      '/host:CPU > python > train_step > PjitFunction(step)': 3000
    })
    expect(tree.warnings).toEqual([
      'The profiler said: Some events were dropped',
      '1 sums of events without a time were passed over.'
    ])
  })

  it('keeps grid, block, registers, bytes and the HLO operation', () => {
    const { tree, timeline } = opened()
    const kernel = '/device:GPU:0 > Stream #13(Compute) > gemm_fusion_dot_1'
    expect(textAt(tree, kernel, 'grid')).toBe('132 x 1 x 1')
    expect(textAt(tree, kernel, 'registers per thread')).toBe('32')
    expect(textAt(tree, kernel, 'hlo_op')).toBe('dot.1')
    expect(valuesOf(tree, 'bytes')).toEqual({
      '/device:GPU:0 > Stream #13(Compute) > MemcpyH2D': 4096
    })
    expect(timeline!.correlation[0]).toBe(77)
  })

  it('has exact times between lines that begin at other nanoseconds of the epoch', () => {
    const { timeline } = opened()
    const host = timeline!.lanes.findIndex(({ process }) => process === '/host:CPU')
    const at = timeline!.lane.indexOf(host)
    expect(timeline!.startNs[0]! - timeline!.startNs[at]!).toBe(123 + 500)
  })
})

describe('folded stacks', () => {
  it('are read with what no line ends in', () => {
    const { tree } = openProfile(sample.sampleFolded(), 'a.folded')
    expect(valuesOf(tree, 'samples')).toEqual({
      'main > load': 10,
      'main > compute > gemm': 70,
      'main > compute': 15,
      '[unknown]': 5
    })
  })

  it('are not taken for prose, JSON or a list', () => {
    for (const prose of ['a shopping list', 'milk 2\neggs 12\n', '[1,\n 2', 'a;b'])
      expect(() => openProfile(text(prose), 'notes.txt')).toThrow()
  })
})

describe('speedscope', () => {
  it('is read sampled and evented, frames of one name at other places apart', () => {
    const { tree, timeline } = openProfile(sample.sampleSpeedscope(), 'a.json')
    const f = tree.count - 1
    expect(tree.count).toBe(8)
    expect(pathOf(tree, f)).toEqual(['ROOT', 'events', 'main', 'f'])
    const time = numberColumn(tree, 'time (ns)')!
    expect([...time.values]).toEqual([0, 0, 1e6, 2e6, 3e6, 0, 7000, 3000])
    expect(textAt(tree, 'samples > main', 'file')).toBe('a.py')
    expect(timeline!.count).toBe(2)
  })

  it('says which profile closes what is not open', () => {
    const file = JSON.parse(new TextDecoder().decode(sample.sampleSpeedscope())) as {
      profiles: { events: unknown[] }[]
    }
    file.profiles[1]!.events.splice(2, 1)
    expect(() => openProfile(text(JSON.stringify(file)), 'a.json')).toThrow(
      /profile 'events' has an event that closes another frame/
    )
  })
})

describe("V8's CPU profile", () => {
  it('gives each sample the time until the next', () => {
    const { tree } = openProfile(sample.sampleCpuProfile(), 'a.cpuprofile')
    expect(valuesOf(tree, 'time (ns)')).toEqual({
      run: 20_000,
      'run > (anonymous)': 55_000,
      '(garbage collector)': 15_000
    })
    expect(textAt(tree, 'run', 'line')).toBe('10')
  })

  it('of this very process adds up to what V8 says', async () => {
    const session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    let sum = 0
    for (let at = 0; at < 5e6; at++) sum += Math.sqrt(at)
    expect(sum).toBeGreaterThan(0)
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    const { tree } = openProfile(text(JSON.stringify(profile)), 'own.cpuprofile')
    const total = (metric: string) =>
      numberColumn(tree, metric)!.values.reduce((all, value) => all + value, 0)
    expect(total('samples')).toBe(profile.samples!.length)
    const first = profile.startTime + profile.timeDeltas![0]!
    expect(total('time (ns)')).toBe((profile.endTime - first) * 1000)
    expect(tree.count).toBe(profile.nodes.length)
  })
})

describe('Caliper', () => {
  it('JSON: sums over ranks, keeps rows without a path, leaves minima minima', () => {
    const { tree } = openProfile(sample.sampleCaliper(), 'caliper.json')
    expect(valuesOf(tree, 'time (ns)')).toEqual({ '': 125e6, main: 15e8, 'main > solve': 75e7 })
    expect(valuesOf(tree, 'min#time.duration')).toMatchObject({ 'main > solve': 0.5 })
  })

  it('.cali: regions that nest, names with commas', () => {
    const { tree } = openProfile(sample.sampleCali(), 'caliper.cali')
    expect(valuesOf(tree, 'time (ns)')).toEqual({ main: 125e7, 'main > a,b=c': 25e7 })
    expect(valuesOf(tree, 'count')).toEqual({ main: 1, 'main > a,b=c': 4 })
  })
})
