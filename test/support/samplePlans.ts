/** What a sample is of, as both native/core/measure.cpp and the host of Python kernels plan it. */
import { readFileSync } from 'node:fs'

export interface SamplePlans {
  cold: {
    bytes: number
    cache: number
    free: number
    sets: number
    flushes: boolean
    text: string
  }[]
  groups: { ns: number; sets: number; flushes: boolean; launches: number; samples: number }[]
}

export const samplePlans = (): SamplePlans =>
  JSON.parse(readFileSync('test/fixtures/sampling/plans.json', 'utf8')) as SamplePlans
