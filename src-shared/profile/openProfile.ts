/** Any profile to a tree, whatever wrote it. */
import { UserError } from '../errors'
import type { ProfileTree } from './profileTree'
import { readChromeTrace } from './readChromeTrace'
import { readHatchet } from './readHatchet'
import { readHatchetMsgpack } from './readHatchetMsgpack'
import { readRun } from './readRun'
import { sniffFormat } from './sniffFormat'
import type { Timeline } from './timeline'

export interface OpenedProfile {
  tree: ProfileTree
  /** Events on lanes, where the file is a trace. */
  timeline: Timeline | null
}

/**
 * Opens a .hatchet, .hatchet_msgpack, Proton chrome trace or a run's run.json, told apart by content.
 * @param name shown in errors.
 * @param onProgress gets the fraction read, 0..1; only .hatchet reports steps in between.
 * @throws UserError with the line and byte of what is wrong.
 */
export function openProfile(
  bytes: Uint8Array,
  name: string,
  onProgress?: (fraction: number) => void
): OpenedProfile {
  if (bytes.length === 0) throw new UserError('usage', `${name} is empty.`)
  const body = withoutByteOrderMark(bytes)
  switch (sniffFormat(body)) {
    case 'hatchet':
      return { tree: readHatchet(body, name, onProgress), timeline: null }
    case 'hatchet_msgpack':
      return { tree: readHatchetMsgpack(body, name), timeline: null }
    case 'chrome_trace':
      return readChromeTrace(body, name)
    case 'run':
      return { tree: readRun(body, name), timeline: null }
    case 'unknown':
      throw new UserError(
        'usage',
        `${name} is not a profile: expected .hatchet JSON, msgpack, a Proton chrome trace or a run.json.`
      )
  }
}

function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return marked ? bytes.subarray(3) : bytes
}
