/** How a file begins, looked at once for all readers: its bytes, its text, and the keys of the JSON it may be. */

/** A trace's header can hold pages of device properties before its first event. */
const headBytes = 1 << 20

export class FileHead {
  /** Text of the first mebibyte. */
  readonly text: string
  /** What the text is by its first character that is not white space. */
  readonly kind: 'object' | 'list' | 'other' | 'blank'
  /** Of a list, its first element; null where it has not come yet. */
  readonly element: 'object' | 'other' | null = null
  /** Keys of the object, or of a list's first element, as far as they have come; values are stepped over. */
  readonly keys: readonly string[] = []
  /** All keys are there. */
  readonly hasAllKeys: boolean = false
  /** No more will come that could tell more. */
  readonly isEnough: boolean

  /**
   * @param bytes the file's first bytes, without a byte order mark
   * @param isWhole whether there are no more
   */
  constructor(
    readonly bytes: Uint8Array,
    readonly isWhole: boolean
  ) {
    this.isEnough = isWhole || bytes.length >= headBytes
    this.text = new TextDecoder().decode(bytes.subarray(0, headBytes))
    const start = this.text.search(/\S/)
    const first = this.text[start]
    this.kind = start < 0 ? 'blank' : first === '{' ? 'object' : first === '[' ? 'list' : 'other'
    let object = start
    if (this.kind === 'list') {
      object = start + 1 + this.text.slice(start + 1).search(/\S|$/)
      const element = this.text[object]
      this.element = element === undefined ? null : element === '{' ? 'object' : 'other'
    }
    if (this.kind === 'object' || this.element === 'object') {
      const found = keysOf(this.text, object)
      this.keys = found.keys
      this.hasAllKeys = found.isWhole
    }
  }

  /** Whether an object has these keys at its top. */
  hasKeys(...keys: string[]): boolean {
    return this.kind === 'object' && keys.every((key) => this.keys.includes(key))
  }

  /** Whether the file begins with this text. */
  startsWith(text: string): boolean {
    return this.text.startsWith(text)
  }

  /** "a", "b": the first keys, for a sentence about what was not recognised. */
  firstKeys(): string {
    return this.keys
      .slice(0, 3)
      .map((key) => `"${key}"`)
      .join(', ')
  }
}

/** The keys of the object at `start` as far as the text goes, and whether its end was seen. */
function keysOf(text: string, start: number): { keys: string[]; isWhole: boolean } {
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
