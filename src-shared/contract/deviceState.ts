/** What a time depends on beside the kernel: the device's model, its driver, its clock and its power. */
import * as v from 'valibot'
import type { Device, Library } from './devices'

export const deviceStateSchema = v.object({
  /** 'NVIDIA H200' */
  name: v.string(),
  architecture: v.string(),
  /** The version of a GPU's driver: '580.159.04'; '' for a CPU. */
  driver: v.string(),
  /** The highest clock in MHz that the device may take, and its power limit in W; 0: not known. */
  maxClockMHz: v.number(),
  powerLimitW: v.number(),
  /** Multiprocessors of a GPU, cores of a CPU: a slice of a GPU has fewer. */
  processors: v.number()
})
export type DeviceState = v.InferOutput<typeof deviceStateSchema>

/** `libraries`: what was found beside the device; NVML knows the driver's own version. */
export function deviceStateOf(
  { kind, name, architecture, properties }: Device,
  libraries: readonly Library[]
): DeviceState {
  const nvml = libraries.find((library) => library.found && library.name === 'NVML')
  const number = (key: string) => {
    const value = properties[key]
    return typeof value === 'number' ? value : 0
  }
  return {
    name,
    architecture,
    driver: kind === 'cuda' ? (nvml?.version ?? String(properties['driverVersion'] ?? '')) : '',
    maxClockMHz: number('maxClockMHz'),
    powerLimitW: number('powerLimitW'),
    processors: number('smCount') || number('cores')
  }
}

const words: Record<keyof DeviceState, (value: string | number) => string> = {
  name: (value) => String(value),
  architecture: (value) => String(value),
  driver: (value) => `driver ${value || 'unknown'}`,
  maxClockMHz: (value) => `${value} MHz`,
  powerLimitW: (value) => `${value} W`,
  processors: (value) => `${value} processors`
}

/** 'NVIDIA H200, sm_90, driver 580.159, 1980 MHz, 700 W'. */
export const deviceStateText = (state: DeviceState): string =>
  (Object.keys(words) as (keyof DeviceState)[])
    .filter((key) => state[key] !== '' && state[key] !== 0)
    .map((key) => words[key](state[key]))
    .join(', ')

/** What differs, in words; empty: times of the two may be compared. */
export const differencesOf = (before: DeviceState, now: DeviceState): string[] =>
  (Object.keys(words) as (keyof DeviceState)[])
    .filter((key) => before[key] !== now[key])
    .map((key) => `${words[key](before[key])} then, ${words[key](now[key])} now`)
