/** What a file is, from its first bytes: names and extensions lie. */
export type SniffedFormat = 'hatchet' | 'hatchet_msgpack' | 'chrome_trace' | 'run' | 'unknown'

const headBytes = 4096

export function sniffFormat(bytes: Uint8Array): SniffedFormat {
  const first = bytes[0]
  // fixarray and array16 of one or two elements, or a map of up to 15 keys: a msgpack tree.
  if (
    first !== undefined &&
    ((first >= 0x91 && first <= 0x92) || (first >= 0x80 && first <= 0x8f))
  ) {
    return 'hatchet_msgpack'
  }
  const head = new TextDecoder()
    .decode(bytes.subarray(0, headBytes))
    .replace(/^\uFEFF/, '')
    .trimStart()
  if (head.startsWith('{')) {
    if (/"(traceEvents|displayTimeUnit)"\s*:/.test(head)) return 'chrome_trace'
    if (/"formatVersion"\s*:/.test(head)) return 'run'
    return /"(frame|children|metrics|name)"\s*:/.test(head) ? 'hatchet' : 'unknown'
  }
  if (!head.startsWith('[')) return 'unknown'
  // Chrome's array form: a list of events, each with a phase.
  const isEventList = /^\[\s*\{[^{}[\]]*"ph"\s*:\s*"/.test(head)
  return isEventList ? 'chrome_trace' : 'hatchet'
}
