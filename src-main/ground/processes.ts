/** Processes that say they are at work on something, and whether they still are. */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import * as v from 'valibot'

/** A writer that cannot be looked at, and has been silent for this long, is gone. */
const silentMs = 60_000

export const ownerSchema = v.object({
  pid: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** For people. */
  host: v.string(),
  /** Where `pid` means something: this start of this system, this space of process ids. */
  machine: v.optional(v.string()),
  /** When the process started, so that another one with its number is not taken for it. */
  started: v.optional(v.string())
})
export type Owner = v.InferOutput<typeof ownerSchema>

/** Host names change and repeat, in containers above all; where Linux has better, that is taken. */
function thisMachine(): string {
  try {
    const start = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${start} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** In ticks since the system started; undefined where the system does not say. */
function startOf(pid: number): string | undefined {
  try {
    // The name in parentheses may hold anything; the start is the 20th field after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!
    return fields.split(' ')[19]
  } catch {
    return undefined
  }
}

export function thisProcess(): Owner {
  return {
    pid: process.pid,
    host: hostname(),
    machine: thisMachine(),
    started: startOf(process.pid)
  }
}

/** Whether a process still is at work; one that cannot be looked at, by the time of its last sign of life. */
export function isAtWork(owner: Owner, lastSignMs: number): boolean {
  // eslint-disable-next-line no-restricted-properties -- a file's time is the wall clock's
  const isFresh = Math.abs(Date.now() - lastSignMs) < silentMs
  if (!isHere(owner)) return isFresh
  if (!isRunning(owner.pid)) return false
  if (owner.started === undefined) return isFresh
  return owner.started === startOf(owner.pid)
}

/** Runs of version 0.1.0 name the host alone. */
const isHere = ({ machine, host }: Owner) =>
  machine === undefined ? host === hostname() : machine === thisMachine()

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
