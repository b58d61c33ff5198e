/** The limits that a chart's points are compared with: each point's own, or what a person entered for all. */
import type { Roof } from '../contract/roofs'
import type { Step } from '../contract/run'
import {
  computeRoof,
  intensityOf,
  limitAt,
  memoryRoof,
  shareOf,
  type DeviceRoofs,
  type Limit,
  type Share
} from '../measurement/roofs'

export interface Roofs extends DeviceRoofs {
  /** In FLOP/s and byte/s; stand in place of the known ones. */
  entered: Partial<Record<Roof['kind'], number>>
}

export const noRoofs: Roofs = { device: undefined, measured: [], entered: {} }

const enteredRoof = (kind: Roof['kind'], rate: number): Roof => ({
  ...{ kind, of: 'entered', rate, basis: 'measured' as const },
  source: 'entered'
})

/** The two roofs of one step. */
export function roofsAt(step: Step, roofs: Roofs): Partial<Record<Roof['kind'], Roof>> {
  const { compute, memory } = roofs.entered
  return {
    compute: compute === undefined ? computeRoof(step, roofs) : enteredRoof('compute', compute),
    memory: memory === undefined ? memoryRoof(step, roofs) : enteredRoof('memory', memory)
  }
}

export function limitOf(step: Step, roofs: Roofs): Limit | undefined {
  const { compute, memory } = roofsAt(step, roofs)
  return step.measurement && limitAt(intensityOf(step.work ?? step.measurement), compute, memory)
}

export function shareOfStep(step: Step, roofs: Roofs): Share {
  const { compute, memory } = roofsAt(step, roofs)
  return shareOf(step, compute, memory)
}
