/** Counters of traces: read, drawn by the pixel, joined, written again; and those of a run's own trace. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { boundsAt, counterRange, counterScene, nextChange } from '@shared/profile/lanes/counters'
import { joinTimelines } from '@shared/profile/read/joinTimelines'
import { openProfile } from '@shared/profile/read/openProfile'
import { readChromeTrace } from '@shared/profile/read/readChromeTrace'
import { timelineOf } from '@shared/profile/timelineOf'
import { chromeTracePieces } from '@shared/profile/write/writeChromeTrace'

const fixture = readFileSync('test/fixtures/golden/counters.trace.json')
const read = () => readChromeTrace(new Uint8Array(fixture), 'counters.trace.json')
const counters = () => read().timeline!.counters!

describe('counter events of a trace', () => {
  it('are series by process, name, id and argument, in the order of time', () => {
    expect(counters().map(({ process, name }) => [process, name])).toEqual([
      ['GPU 0', 'SM active (%)'],
      ['GPU 0', 'NVLink[2], sent'],
      ['GPU 0', 'NVLink[2], received'],
      ['python', 'Power (W)']
    ])
    expect([...counters()[0]!.ns]).toEqual([0, 10_000, 20_000, 30_000])
    expect([...counters()[0]!.value]).toEqual([0, 96, 40, 0])
    expect([...counters()[1]!.value]).toEqual([1, 3])
    // Those without a number are said.
    expect(read().tree.warnings.join(' ')).toContain("1 trace event of phase 'C' without a value")
  })

  it('take no part in the tree, and have lanes neither', () => {
    expect(read().timeline!.lanes.map(({ name }) => name)).toEqual(['stream 7'])
    expect(read().tree.count).toBe(2)
  })

  it('are written again, and joined with those of other files on one clock', () => {
    const { tree, timeline } = read()
    const text = [...chromeTracePieces(tree, timeline, (name) => name)].join('')
    const again = readChromeTrace(new TextEncoder().encode(text), 'again').timeline!.counters!
    expect(again.map(({ name, ns, value }) => [name, [...ns], [...value]])).toEqual(
      counters().map(({ name, ns, value }) => [name, [...ns], [...value]])
    )
    const node = new Int32Array(tree.count)
    const part = (name: string) => ({ name, timeline: timeline!, node })
    const joined = joinTimelines([part('rank 0'), part('rank 1')]).timeline
    expect(joined.counters!.map(({ process }) => process)).toEqual(
      ['rank 0', 'rank 1'].flatMap((rank) =>
        ['GPU 0', 'GPU 0', 'GPU 0', 'python'].map((process) => `${rank}, ${process}`)
      )
    )
  })
})

describe('a counter in a window', () => {
  const counter = {
    ...{ name: 'a', process: '', processId: '' },
    ns: Float64Array.of(100, 110, 111, 112, 150),
    value: Float64Array.of(5, 9, -1, 7, 2)
  }

  it('holds a value until the next, and has none before its first', () => {
    const { bounds } = counterScene(counter, 90, { startNs: 0, endNs: 100 }, 10)
    expect([...bounds]).toEqual([NaN, NaN, 5, 5, -1, 9, 7, 7, 7, 7, 7, 7, 2, 2, 2, 2, 2, 2, 2, 2])
  })

  it('has the least and the largest of each pixel, as going through all of them finds', () => {
    for (const width of [1, 3, 7, 64, 1000]) {
      const { bounds } = counterScene(counter, 100, { startNs: 3, endNs: 53 }, width)
      for (let pixel = 0; pixel < width; pixel++) {
        const [from, to] = [103 + (50 * pixel) / width, 103 + (50 * (pixel + 1)) / width]
        const seen = [...counter.value].filter(
          (_, at) => counter.ns[at]! < to && (counter.ns[at + 1] ?? Infinity) > from
        )
        expect([bounds[2 * pixel], bounds[2 * pixel + 1]]).toEqual([
          Math.min(...seen),
          Math.max(...seen)
        ])
      }
    }
  })

  it('is drawn from 0, and says what it is at a time', () => {
    expect(counterRange(counter)).toEqual({ least: -1, most: 9 })
    expect(counterRange({ ...counter, value: Float64Array.of(0, 0) })).toEqual({
      least: 0,
      most: 1
    })
    const scene = counterScene(counter, 100, { startNs: 0, endNs: 60 }, 6)
    expect(boundsAt(scene, 12)).toEqual([-1, 9])
    expect(boundsAt(scene, 61)).toBeUndefined()
    expect(boundsAt(scene, -1)).toBeUndefined()
  })
})

describe('the next change of counters', () => {
  const scene = (...values: number[]) => ({
    startNs: 0,
    endNs: 10 * values.length,
    bounds: Float32Array.from(values.flatMap((value) => [value, value]))
  })
  const clock = scene(NaN, 5, 5, 7, 7, 7)
  const power = scene(1, 1, 2, 2, 2, 2)
  const all = { startNs: 0, endNs: 60 }

  it('is the next pixel where one of them has another value, both ways', () => {
    const walk = (direction: 1 | -1, fromNs: number) => {
      const found: number[] = []
      let at: number | undefined = fromNs
      while ((at = nextChange([clock, power], all, at, direction)) !== undefined) found.push(at)
      return found
    }
    expect(walk(1, 0)).toEqual([15, 25, 35])
    expect(walk(-1, 60)).toEqual([35, 25, 15])
    expect(nextChange([clock], all, 15, 1)).toBe(35)
  })

  it('is none beyond what is looked at, and none of no counter', () => {
    expect(nextChange([clock, power], { startNs: 0, endNs: 20 }, 15, 1)).toBeUndefined()
    expect(nextChange([clock, power], { startNs: 20, endNs: 60 }, 25, -1)).toBeUndefined()
    expect(nextChange([], all, 0, 1)).toBeUndefined()
  })
})

describe('the timeline of a run', () => {
  it('has clock and power of each step that measured them', () => {
    const bytes = new Uint8Array(readFileSync('docs/results/h200-8192/run.json'))
    const opened = openProfile(bytes, 'run.json')
    const timeline = timelineOf(opened)!
    const clock = timeline.counters!.find(({ name }) => name === 'Clock (MHz)')!
    expect(clock.process).toBe('NVIDIA H200')
    const first = opened.run!.steps[0]!.measurement!
    expect(clock.value[0]).toBe(first.meanMHz)
    expect(clock.value.length).toBe(
      2 * opened.run!.steps.filter(({ measurement }) => (measurement?.meanMHz ?? 0) > 0).length
    )
    expect(timeline.counters!.map(({ name }) => name)).toContain('Power (W)')
  })
})
