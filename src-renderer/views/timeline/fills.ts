import { hues, inkOn, plainFill } from '@shared/measurement/pictureColours'
import type { Look } from '@shared/measurement/marks'
import type { Coloring } from '../../workers/timelineProtocol'

export interface SliceFill {
  fill: string
  ink: string
}

/** Calls of the host that launch: neither work nor a scope. */
const callFill = { light: '#b7c1ce', dark: '#404a57' }

/** The fill of each group, as the worker numbers them (groupsOf in timelineSession). */
export function fillsOf(coloring: Coloring, look: Look): SliceFill[] {
  const colours = coloring === 'kind' ? [...hues, callFill, plainFill] : hues
  return colours.map((colour) => ({ fill: colour[look], ink: inkOn(colour[look]) }))
}
