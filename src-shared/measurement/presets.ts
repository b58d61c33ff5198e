/**
 * Method bs-3 (docs/measurement.md): how many samples a point takes and when it stops. Times in nanoseconds.
 */
import type { presetNames } from '../contract/jobs'

/** Runs measured by methods of different names are told apart where they are compared. */
export const methodName = 'bs-3'
/** Of 'bs-3 quick, cold', the name alone. */
export const nameOfMethod = (method: string): string => method.split(' ')[0]!
/** A method, or its name, as far as times depend on it: what the name tells of are launches on a GPU. */
export const methodOn = (isCpu: boolean, method: string): string =>
  isCpu ? method.split(' ').slice(1).join(' ') : method

export interface Preset {
  /** Warm-up for the first point of a kernel, and for later ones. */
  firstWarmupNs: number
  laterWarmupNs: number
  minSamples: number
  minTimeNs: number
  maxRelativeStdev: number
  maxSamples: number
  timeoutNs: number
  rounds: number
}

const ms = 1e6
const s = 1e9

export const presets: Record<(typeof presetNames)[number], Preset> = {
  quick: {
    firstWarmupNs: 50 * ms,
    laterWarmupNs: 20 * ms,
    minSamples: 7,
    minTimeNs: 0.05 * s,
    maxRelativeStdev: 0.02,
    maxSamples: 10_000,
    timeoutNs: 1 * s,
    rounds: 1
  },
  standard: {
    firstWarmupNs: 200 * ms,
    laterWarmupNs: 50 * ms,
    minSamples: 20,
    minTimeNs: 0.25 * s,
    maxRelativeStdev: 0.005,
    maxSamples: 10_000,
    timeoutNs: 5 * s,
    rounds: 3
  },
  thorough: {
    firstWarmupNs: 500 * ms,
    laterWarmupNs: 100 * ms,
    minSamples: 50,
    minTimeNs: 0.5 * s,
    maxRelativeStdev: 0.003,
    maxSamples: 10_000,
    timeoutNs: 15 * s,
    rounds: 3
  }
}

/** "Back to back for at least half a second". */
export const sustainedNs = 0.5 * s
