/** A reason in the few words that a cell has room for; its whole sentence is on hover and in the details. */
import type { Device } from '../contract/devices'

interface Rule {
  matches: RegExp
  words: (found: RegExpExecArray, takes: readonly string[]) => string
}

/** More names than this say nothing in a cell. */
const mostFormats = 2

/** By the sentences of the engine (native/core, src-main/engine); in order, the first that matches decides. */
const rules: readonly Rule[] = [
  {
    matches: /does not (?:compute|take)\b/,
    words: (_, takes) =>
      takes.length > 0 && takes.length <= mostFormats
        ? `${takes.join(', ')} only`
        : takes.length > 0
          ? 'other formats'
          : ''
  },
  { matches: /^Written for (\w+)/, words: ([, first]) => `for ${first}` },
  { matches: /\bfrom ((?:sm_|gfx)\w+) on\b/, words: ([, first]) => `from ${first} on` },
  {
    matches: /compiler aborts|(?:did|does) not compile|cannot be compiled/,
    words: () => 'does not compile'
  },
  { matches: /^This CPU has no ([\w -]+?)\.?$/, words: ([, what]) => `no ${what}` },
  { matches: /\btimed out\b|took longer than/i, words: () => 'timed out' },
  { matches: /out of memory|not enough memory/i, words: () => 'out of memory' }
]

/** @param takes formats that the kernel computes on the device; '' where nothing short is true. */
export function shortReason(reason: string, takes: readonly string[]): string {
  for (const { matches, words } of rules) {
    const found = matches.exec(reason)
    if (found) return words(found, takes)
  }
  return ''
}

/** The sentence why a kernel has no code for a format on a device, and its few words; both '' where it has, or is not known. */
export function missingReason(
  device: Device | undefined,
  kernel: string,
  format: string
): { reason: string; words: string } {
  const capability = device?.kernels
    .find(({ id }) => id === kernel)
    ?.capabilities.find((one) => one.format === format)
  if (capability?.level !== 'unavailable') return { reason: '', words: '' }
  return {
    reason: capability.reason,
    words: shortReason(capability.reason, formatsTaken(device, kernel))
  }
}

/** What a kernel computes on a device. */
export const formatsTaken = (device: Device | undefined, kernel: string): string[] =>
  (device?.kernels.find(({ id }) => id === kernel)?.capabilities ?? [])
    .filter(({ level }) => level !== 'unavailable')
    .map(({ format }) => format)
