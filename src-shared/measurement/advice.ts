/**
 * What a measured point says about its own limits, in sentences: only what follows from its numbers. Wave quantisation as
 * in NVIDIA's "Matrix Multiplication Background User's Guide", section 5.
 */
import type { Device } from '../contract/devices'
import type { Launch, Step } from '../contract/run'
import { launchTimes } from './launchTimes'

export interface Advice {
  rule: 'few-blocks' | 'wave-tail' | 'prepass' | 'gaps' | 'clock'
  text: string
}

/** Shares below these are not worth a sentence. */
const least = { tail: 0.1, prepass: 0.05, gaps: 0.03, clock: 0.05 }

/**
 * Empty for a point that was not measured, and where nothing stands out.
 * @param nameOf how launches are named; as they are recorded C++ names are mangled
 */
export function adviceOn(
  step: Step,
  device: Device | undefined,
  nameOf: (name: string) => string
): Advice[] {
  const { measurement } = step
  if (!measurement) return []
  const times = launchTimes(measurement.launches)
  const launches = measurement.launches.map((one, at) => ({
    ...one,
    name: nameOf(one.name),
    ns: times[at]!
  }))
  const number = (key: string) => {
    const value = device?.properties[key]
    return typeof value === 'number' && value > 0 ? value : undefined
  }
  const main = longest(launches)
  return [
    ...(main ? onBlocks(main, number('smCount'), number('sharedBytesPerBlock')) : []),
    ...(main ? onTime(launches, main) : []),
    ...onClock(measurement.meanMHz, number('maxClockMHz'), measurement.badges)
  ]
}

const percent = (share: number) => `${Math.round(share * 100)} %`

/** A launch and what it adds to the operation's time. */
type Timed = Launch & { ns: number }

function longest(launches: readonly Timed[]): Timed | undefined {
  return launches.reduce<Timed | undefined>(
    (best, launch) => (best && best.ns >= launch.ns ? best : launch),
    undefined
  )
}

function onBlocks(
  { name, grid, sharedMemoryBytes }: Launch,
  multiprocessors: number | undefined,
  sharedBytes: number | undefined
): Advice[] {
  const blocks = grid[0] * grid[1] * grid[2]
  if (!multiprocessors || blocks === 0) return []
  if (blocks < multiprocessors) {
    const idle = 1 - blocks / multiprocessors
    return [
      {
        rule: 'few-blocks',
        text:
          `${name} has ${blocks} blocks for ${multiprocessors} multiprocessors: ${percent(idle)} of them have ` +
          'nothing to do. Smaller tiles, or splitting K, would give them work.'
      }
    ]
  }
  // Only where two blocks do not fit one multiprocessor is it known how many run at a time.
  const isAlone = sharedBytes !== undefined && 2 * sharedMemoryBytes > sharedBytes
  const waves = blocks / multiprocessors
  const lost = 1 - waves / Math.ceil(waves)
  if (!isAlone || lost < least.tail) return []
  return [
    {
      rule: 'wave-tail',
      text:
        `${name} has ${blocks} blocks, ${waves.toFixed(2)} waves of ${multiprocessors}: ${percent(lost)} of the time of ` +
        `${Math.ceil(waves)} full waves is idle at the end. Another tile size, or a persistent kernel, would fill it.`
    }
  ]
}

function onTime(launches: readonly Timed[], main: Timed): Advice[] {
  const start = Math.min(...launches.map(({ startNs }) => startNs))
  const end = Math.max(...launches.map(({ endNs }) => endNs))
  const busy = launches.reduce((sum, launch) => sum + launch.ns, 0)
  const advice: Advice[] = []
  const byName = new Map<string, number>()
  for (const { name, ns } of launches) byName.set(name, (byName.get(name) ?? 0) + ns)
  for (const [name, ns] of byName) {
    if (name === main.name || ns / busy < least.prepass) continue
    advice.push({
      rule: 'prepass',
      text: `${name} takes ${percent(ns / busy)} of the time; of an operand that stays the same, such as weights, it need run only once.`
    })
  }
  const gaps = 1 - busy / (end - start)
  if (launches.length > 1 && gaps >= least.gaps) {
    advice.push({
      rule: 'gaps',
      text: `${percent(gaps)} of the time lies between the ${launches.length} launches; fewer of them, or a CUDA graph, would save it.`
    })
  }
  return advice
}

function onClock(meanMHz: number, maxMHz: number | undefined, badges: readonly string[]): Advice[] {
  if (!maxMHz || meanMHz <= 0 || meanMHz >= maxMHz * (1 - least.clock)) return []
  const why = badges.includes('power-capped')
    ? ', held there by the power limit'
    : badges.includes('thermal')
      ? ', held there by its temperature'
      : ''
  return [
    {
      rule: 'clock',
      text: `The clock was ${Math.round(meanMHz)} of ${maxMHz} MHz (${percent(meanMHz / maxMHz)})${why}: compare rates only with runs at the same clock.`
    }
  ]
}
