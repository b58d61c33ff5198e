/**
 * Reads .hatchet JSON straight into columns, chunk by chunk: Proton 3.1 to main (both spellings, both ROOT layouts),
 * [tree, devices], [tree], a bare tree, and the literals of other tools (several roots, no type, no children, extra
 * keys). An explicit stack instead of recursion: any depth.
 */
import { setDeviceNumber } from './hatchetDevice'
import { JsonTokens, quote } from './jsonTokens'
import type { ProfileDevice, ProfileTree } from '../tree/profileTree'
import type { StringTable } from '../tree/stringTable'
import { TreeBuilder } from '../tree/treeBuilder'
import { whatOlderRunsHold } from './olderRuns'

const enum Context {
  document,
  /** The top array. */
  roots,
  /** An object of the top array before its first key tells a tree from the device element. */
  element,
  node,
  frame,
  metrics,
  children,
  vector,
  devices,
  deviceType,
  device,
  skippedObject,
  skippedArray
}

const enum Expect {
  keyOrEnd,
  key,
  colon,
  value,
  valueOrEnd,
  commaOrEnd,
  nothing
}

const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a

export class HatchetParser {
  private readonly builder = new TreeBuilder()
  private readonly tokens: JsonTokens
  private stack: Context[] = []
  private context: Context = Context.document
  private expect: Expect = Expect.value
  private key = -1
  private topIndex = 0
  private vector: number[] = []
  private vectorIsFloat = false
  private vectorMetric = -1
  private deviceTypeName = ''
  private device: ProfileDevice | null = null
  private skippedKeys = new Set<number>()
  private readonly childrenKey: number
  private readonly frameKey: number
  private readonly metricsKey: number
  private readonly nameKey: number
  private readonly typeKey: number

  constructor(fileName: string) {
    const strings: StringTable = this.builder.strings
    this.tokens = new JsonTokens(strings, fileName)
    this.childrenKey = strings.intern('children')
    this.frameKey = strings.intern('frame')
    this.metricsKey = strings.intern('metrics')
    this.nameKey = strings.intern('name')
    this.typeKey = strings.intern('type')
    this.builder.hasDeviceElement = false
  }

  write(chunk: Uint8Array): void {
    this.tokens.feed(chunk)
    this.run()
  }

  finish(): ProfileTree {
    this.tokens.final = true
    // A number at the very end has no byte after it that ends it.
    this.tokens.feed(new Uint8Array(0))
    this.run()
    if (this.expect !== Expect.nothing) {
      this.tokens.failAt(
        this.tokens.bytes.length,
        this.expected(),
        'the end of the file (it is cut short)'
      )
    }
    if (this.builder.count === 0) this.tokens.failAt(0, 'a tree', 'none')
    this.noteSkippedKeys()
    const tree = this.builder.finish('hatchet')
    tree.warnings.push(...whatOlderRunsHold(tree))
    return tree
  }

  private run(): void {
    const tokens = this.tokens
    for (;;) {
      const byte = tokens.peek()
      if (byte < 0) return
      switch (this.expect) {
        case Expect.commaOrEnd:
          if (byte === comma) {
            tokens.at++
            this.expect = isArray(this.context) ? Expect.value : Expect.key
          } else this.end(byte)
          break
        case Expect.keyOrEnd:
        case Expect.key:
          if (byte === quote) {
            this.key = tokens.readString()
            if (this.key < 0) return
            if (this.context === Context.element) this.decideElement()
            this.expect = Expect.colon
          } else if (this.expect === Expect.keyOrEnd) this.end(byte)
          else tokens.fail('a key')
          break
        case Expect.colon:
          if (byte !== colon) tokens.fail("':' after a key")
          tokens.at++
          this.expect = Expect.value
          break
        case Expect.valueOrEnd:
          if (byte === closeBracket) {
            this.end(byte)
            break
          }
          if (!this.readValue(byte)) return
          break
        case Expect.value:
          if (!this.readValue(byte)) return
          break
        case Expect.nothing:
          tokens.fail('nothing after the profile')
      }
    }
  }

  /** False when the chunk ends inside the value. */
  private readValue(byte: number): boolean {
    const tokens = this.tokens
    if (byte === quote) {
      const text = tokens.readString()
      if (text < 0) return false
      this.takeText(text)
    } else if (byte === openBrace) {
      tokens.at++
      this.beginObject()
      return true
    } else if (byte === openBracket) {
      tokens.at++
      this.beginArray()
      return true
    } else if (byte === 0x6e) {
      if (!tokens.readWord('null')) return false
      this.takeNull()
    } else if (byte === 0x74 || byte === 0x66) {
      if (!tokens.readWord(byte === 0x74 ? 'true' : 'false')) return false
      tokens.big = null
      this.takeNumber(byte === 0x74 ? 1 : 0, false)
    } else if (byte === 0x4e) {
      // Python's json module writes NaN bare.
      if (!tokens.readWord('NaN')) return false
      tokens.big = null
      this.takeNumber(NaN, true)
    } else {
      if (byte !== 0x2d && (byte < 0x30 || byte > 0x39)) tokens.fail(this.expected())
      if (!tokens.readNumber()) return false
      this.takeNumber(tokens.value, tokens.isFloat)
    }
    this.expect = Expect.commaOrEnd
    return true
  }

  private push(context: Context, expect: Expect): void {
    this.stack.push(this.context)
    this.context = context
    this.expect = expect
  }

  private beginObject(): void {
    const { builder } = this
    switch (this.context) {
      case Context.document:
        builder.open()
        return this.push(Context.node, Expect.keyOrEnd)
      case Context.roots:
        if (this.topIndex++ > 0) return this.push(Context.element, Expect.keyOrEnd)
        builder.open()
        return this.push(Context.node, Expect.keyOrEnd)
      case Context.children:
        builder.open()
        return this.push(Context.node, Expect.keyOrEnd)
      case Context.node:
        if (this.key === this.frameKey) return this.push(Context.frame, Expect.keyOrEnd)
        if (this.key === this.metricsKey) return this.push(Context.metrics, Expect.keyOrEnd)
        if (this.key === this.childrenKey) this.wrongValue('\'[\' after "children"')
        break
      case Context.frame:
        if (this.key === this.nameKey) this.wrongValue('a string as frame name')
        break
      case Context.devices:
        this.deviceTypeName = builder.strings.text(this.key)
        return this.push(Context.deviceType, Expect.keyOrEnd)
      case Context.deviceType:
        this.beginDevice()
        return this.push(Context.device, Expect.keyOrEnd)
      case Context.vector:
        this.wrongValue('a number in a vector')
    }
    this.skip(Context.skippedObject, Expect.keyOrEnd)
  }

  private beginArray(): void {
    switch (this.context) {
      case Context.document:
        return this.push(Context.roots, Expect.valueOrEnd)
      case Context.roots:
      case Context.children:
        this.wrongValue("'{'")
      // falls through: wrongValue throws
      case Context.node:
        if (this.key === this.childrenKey) return this.push(Context.children, Expect.valueOrEnd)
        if (this.key === this.frameKey || this.key === this.metricsKey) this.wrongValue("'{'")
        break
      case Context.frame:
        if (this.key === this.nameKey) this.wrongValue('a string as frame name')
        break
      case Context.metrics:
        this.vector = []
        this.vectorIsFloat = false
        this.vectorMetric = this.key
        return this.push(Context.vector, Expect.valueOrEnd)
      case Context.vector:
        this.wrongValue('a number in a vector')
    }
    this.skip(Context.skippedArray, Expect.valueOrEnd)
  }

  private skip(container: Context, expect: Expect): void {
    const isInside = this.context === Context.skippedObject || this.context === Context.skippedArray
    if (!isInside) this.skippedKeys.add(this.key)
    this.push(container, expect)
  }

  private end(byte: number): void {
    const closing = isArray(this.context) ? closeBracket : closeBrace
    if (byte !== closing) this.tokens.fail(this.expected())
    if (this.context === Context.node) this.endNode()
    else if (this.context === Context.vector) this.endVector()
    else if (this.context === Context.element) this.builder.hasDeviceElement = true
    else if (this.context === Context.device && this.device) this.builder.devices.push(this.device)
    this.tokens.at++
    this.context = this.stack.pop()!
    this.expect = this.context === Context.document ? Expect.nothing : Expect.commaOrEnd
  }

  private endNode(): void {
    const { builder } = this
    if (builder.nameId(builder.openNode) < 0)
      this.tokens.fail('a "frame" with a "name" in this node')
    builder.close()
  }

  private endVector(): void {
    this.builder.vectors.push({
      node: this.builder.openNode,
      name: this.builder.strings.text(this.vectorMetric),
      values: Float64Array.from(this.vector),
      written: this.vectorIsFloat ? 2 : 1
    })
  }

  /** The first key of a later element of the top array: a further root, or the devices. */
  private decideElement(): void {
    const isNode =
      this.key === this.frameKey ||
      this.key === this.metricsKey ||
      this.key === this.childrenKey ||
      this.key === this.nameKey
    if (isNode) {
      this.builder.open()
      this.context = Context.node
    } else {
      this.builder.hasDeviceElement = true
      this.context = Context.devices
    }
  }

  private beginDevice(): void {
    this.device = {
      type: this.deviceTypeName,
      id: this.builder.strings.text(this.key),
      arch: '',
      busWidthBits: 0,
      clockRateKHz: 0,
      memoryClockRateKHz: 0,
      multiprocessors: 0
    }
  }

  private takeText(text: number): void {
    const { builder } = this
    const node = builder.openNode
    switch (this.context) {
      case Context.metrics:
        return builder.setText(node, this.key, text)
      case Context.frame:
        if (this.key === this.nameKey) builder.setName(node, text)
        else if (this.key === this.typeKey) builder.setType(node, text)
        else this.skippedKeys.add(this.key)
        return
      case Context.node:
        if (this.key === this.nameKey) {
          if (builder.nameId(node) < 0) builder.setName(node, text)
        } else this.takeOther()
        return
      case Context.device:
        if (builder.strings.text(this.key) === 'arch')
          this.device!.arch = builder.strings.text(text)
        return
      default:
        this.takeOther()
    }
  }

  private takeNumber(value: number, isFloat: boolean): void {
    const { builder, tokens } = this
    switch (this.context) {
      case Context.metrics:
        if (tokens.big !== null) builder.setBigInteger(builder.openNode, this.key, tokens.big)
        else builder.setNumber(builder.openNode, this.key, value, isFloat)
        return
      case Context.vector:
        this.vector.push(value)
        this.vectorIsFloat ||= isFloat
        return
      case Context.device:
        return setDeviceNumber(this.device!, builder.strings.text(this.key), value)
      default:
        this.takeOther()
    }
  }

  /** nlohmann::json writes a NaN as null. */
  private takeNull(): void {
    this.tokens.big = null
    if (this.context === Context.metrics || this.context === Context.vector)
      this.takeNumber(NaN, true)
    else if (this.context === Context.roots || this.context === Context.children) this.takeOther()
  }

  /** A value where only an object or array has meaning, or under a key that is not Proton's. */
  private takeOther(): void {
    const { context, key } = this
    if (context === Context.document || context === Context.roots || context === Context.children) {
      this.wrongValue("'{'")
    }
    if (context === Context.node) {
      if (key === this.frameKey || key === this.metricsKey) this.wrongValue("'{'")
      if (key === this.childrenKey) this.wrongValue("'['")
      this.skippedKeys.add(key)
    }
    if (context === Context.frame && key === this.nameKey) this.wrongValue('a string as frame name')
  }

  private wrongValue(expected: string): never {
    this.tokens.failAt(this.tokens.at, expected, 'another kind of value')
  }

  private noteSkippedKeys(): void {
    const names = [...this.skippedKeys]
      .filter((id) => id >= 0)
      .map((id) => this.builder.strings.text(id))
    if (names.length === 0) return
    const shown = names.slice(0, 5).map((name) => `"${name.slice(0, 60)}"`)
    const more = names.length > 5 ? ` and ${names.length - 5} more` : ''
    this.builder.warnings.push(
      `Keys that are not Proton's were passed over: ${shown.join(', ')}${more}.`
    )
  }

  private expected(): string {
    switch (this.expect) {
      case Expect.commaOrEnd:
        return isArray(this.context) ? "',' or ']'" : "',' or '}'"
      case Expect.keyOrEnd:
        return "a key or '}'"
      case Expect.key:
        return 'a key'
      case Expect.colon:
        return "':' after a key"
      default:
        return 'a value'
    }
  }
}

function isArray(context: Context): boolean {
  return (
    context === Context.roots ||
    context === Context.children ||
    context === Context.vector ||
    context === Context.skippedArray
  )
}

const chunkBytes = 1 << 20

/** Reads a whole .hatchet file. onProgress gets the fraction read, 0..1, about once per MiB. */
export function readHatchet(
  bytes: Uint8Array,
  fileName: string,
  onProgress?: (fraction: number) => void
): ProfileTree {
  const parser = new HatchetParser(fileName)
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    parser.write(bytes.subarray(at, at + chunkBytes))
    onProgress?.(Math.min(1, (at + chunkBytes) / bytes.length))
  }
  return parser.finish()
}
