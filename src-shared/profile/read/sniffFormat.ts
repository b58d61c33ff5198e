/** What a file is, from how it begins: names and extensions lie. */

export type ProfileForm = 'hatchet' | 'hatchet_msgpack' | 'chrome_trace' | 'run'

/** A form that is read, or what the file looks like in words; null: more of it is needed to tell. */
export type Sniffed = { form: ProfileForm } | { looksLike: string } | null

/** A trace's header can hold pages of device properties before its first event. */
const headBytes = 1 << 20

/** Keys at the top of an object, and what it is when one is there; in order, the first that fits decides. */
const signatures: readonly { keys: readonly string[]; is: Exclude<Sniffed, null> }[] = [
  { keys: ['formatVersion'], is: { form: 'run' } },
  { keys: ['benchmarks', 'devices'], is: { looksLike: "nvbench's JSON" } },
  { keys: ['rocprofiler-sdk-tool'], is: { looksLike: "rocprofv3's JSON" } },
  { keys: ['$schema', 'shared', 'profiles'], is: { looksLike: 'a speedscope file' } },
  { keys: ['shared', 'profiles'], is: { looksLike: 'a speedscope file' } },
  { keys: ['nodes', 'startTime'], is: { looksLike: "V8's .cpuprofile" } },
  { keys: ['frame'], is: { form: 'hatchet' } },
  { keys: ['metrics'], is: { form: 'hatchet' } },
  { keys: ['children'], is: { form: 'hatchet' } },
  { keys: ['name', 'version'], is: { looksLike: 'a package.json' } },
  ...[
    'traceEvents',
    'displayTimeUnit',
    'schemaVersion',
    'deviceProperties',
    'distributedInfo',
    'baseTimeNanoseconds',
    'traceName'
  ].map((key) => ({ keys: [key], is: { form: 'chrome_trace' as const } }))
]

/**
 * @param head the file's first bytes, without a byte order mark
 * @param isWhole whether there are no more
 */
export function sniffFormat(head: Uint8Array, isWhole: boolean): Sniffed {
  const first = head[0]
  if (first === undefined) return isWhole ? { looksLike: 'an empty file' } : null
  // fixarray and array16 of one or two elements, or a map of up to 15 keys: a msgpack tree.
  if ((first >= 0x91 && first <= 0x92) || (first >= 0x80 && first <= 0x8f))
    return { form: 'hatchet_msgpack' }
  const text = new TextDecoder().decode(head.subarray(0, headBytes))
  const start = text.search(/\S/)
  const isEnough = isWhole || head.length >= headBytes
  if (start < 0) return isEnough ? { looksLike: 'white space' } : null
  if (text[start] === '{') return ofObject(text, start, isEnough)
  if (text[start] === '[') return ofArray(text, start, isEnough)
  if (text.startsWith('SQLite format 3'))
    return { looksLike: 'an SQLite database, as Nsight Systems and rocprofv3 export' }
  return { looksLike: 'no JSON' }
}

function ofObject(text: string, start: number, isEnough: boolean): Sniffed {
  const { keys, isWhole } = topLevelKeys(text, start)
  for (const { keys: needed, is } of signatures) {
    if (needed.every((key) => keys.includes(key))) return is
  }
  if (!isWhole && !isEnough) return null
  if (keys.length === 0 && isWhole) return { looksLike: 'an empty JSON object' }
  return {
    looksLike: `JSON with ${keys
      .slice(0, 3)
      .map((key) => `"${key}"`)
      .join(', ')}`
  }
}

/** A list of events is Chrome's array form; a list whose first element is a node is hatchet's. */
function ofArray(text: string, start: number, isEnough: boolean): Sniffed {
  const at = start + 1 + text.slice(start + 1).search(/\S|$/)
  if (at >= text.length) return isEnough ? { form: 'hatchet' } : null
  // An empty list, or one of other values: the hatchet reader says what it expects where.
  if (text[at] !== '{') return { form: 'hatchet' }
  const { keys, isWhole } = topLevelKeys(text, at)
  if (keys.includes('ph')) return { form: 'chrome_trace' }
  if (['frame', 'metrics', 'children'].some((key) => keys.includes(key))) return { form: 'hatchet' }
  if (!isWhole && !isEnough) return null
  return keys.includes('name') || keys.length === 0
    ? { form: 'hatchet' }
    : {
        looksLike: `a list of JSON objects with ${keys
          .slice(0, 3)
          .map((key) => `"${key}"`)
          .join(', ')}`
      }
}

/** The keys of the object at `start` as far as the text goes, and whether its end was seen. Values are stepped over. */
function topLevelKeys(text: string, start: number): { keys: string[]; isWhole: boolean } {
  const keys: string[] = []
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at)
      if (end < 0) break
      if (depth === 1 && /^\s*:/.test(text.slice(end + 1, end + 20)))
        keys.push(text.slice(at + 1, end))
      at = end
    } else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0)
      return { keys, isWhole: true }
  }
  return { keys, isWhole: false }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return -1
}
