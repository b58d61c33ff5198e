/**
 * One event of a Chrome trace, straight from its bytes: complete events and flows as profilers write them by the million.
 * No object is made of them, names are interned without being decoded, and what the tree does not use is stepped over. What
 * is unusual (escapes in a name, call stacks, other phases) is left to JSON.parse.
 */
import { hashPrime, hashSeed, StringTable } from '../tree/stringTable'
import { endOfObject, JsonScanner, KeyTable, openBrace, quote, unusual } from './jsonScanner'

/** Keys that are read; the facts of a launch come behind them. */
const eventKeys = ['ph', 'cat', 'name', 'pid', 'tid', 'ts', 'dur', 'id', 'args'] as const
const argumentKeys = [
  'correlation',
  'External id',
  'external id',
  'External Id',
  'bytes',
  'call_stack',
  'metrics',
  'node',
  'grid'
] as const
const enum Key {
  none = -1,
  ph,
  cat,
  name,
  pid,
  tid,
  ts,
  dur,
  id,
  args
}
const enum Argument {
  none = -1,
  correlation,
  externalId,
  externalId2,
  externalId3,
  bytes,
  callStack,
  metrics,
  node,
  /** The first of the facts. */
  grid
}
const completePhase = 0x58
const flowStart = 0x73
const flowEnd = 0x66

export class TraceEventReader extends JsonScanner {
  isComplete = false
  isFlowStart = false
  /** String ids; -1 where the event has none. */
  name = -1
  category = -1
  process = NaN
  thread = NaN
  /** As in the file, microseconds. */
  start = NaN
  duration = NaN
  /** Of a flow. */
  id = NaN
  correlation = NaN
  externalId = NaN
  bytes = NaN
  /** String id of a launch's facts as JSON; -1: none. */
  facts = -1

  private hasGrid = false
  private factLength = 0
  private readonly rawFact = new Uint8Array(4096)
  private readonly rawFacts = new StringTable()
  private readonly factsOf: number[] = []
  private readonly keys = new KeyTable(eventKeys)
  private readonly argumentKeys: KeyTable
  private readonly decoder = new TextDecoder()

  /**
   * @param strings what names and facts are interned in
   * @param factKeys arguments that are facts of a launch
   * @param describe the facts of arguments as JSON; '' for none
   */
  constructor(
    strings: StringTable,
    factKeys: readonly string[],
    private readonly describe: (args: unknown) => string
  ) {
    super(strings)
    this.argumentKeys = new KeyTable([
      ...argumentKeys,
      ...factKeys.filter((key) => !(argumentKeys as readonly string[]).includes(key))
    ])
  }

  /** Reads the event whose '{' is at `start`; where it ends, or `incomplete` or `unusual`. */
  read(data: Uint8Array, start: number): number {
    this.data = data
    this.at = start + 1
    this.stop = 0
    this.clear()
    let phase = 0
    const { keys } = this
    for (let key = this.nextKey(keys); key !== endOfObject; key = this.nextKey(keys)) {
      const value = this.space()
      if (this.stop !== 0) return this.stop
      switch (key as Key) {
        case Key.ph:
          if (value !== quote || data[this.at + 2] !== quote) return unusual
          phase = data[this.at + 1]!
          if (phase !== completePhase && phase !== flowStart && phase !== flowEnd) return unusual
          this.at += 3
          break
        case Key.name:
          this.name = this.string(value)
          break
        case Key.cat:
          this.category = this.string(value)
          break
        case Key.pid:
          this.process = this.integer()
          break
        case Key.tid:
          this.thread = this.integer()
          break
        case Key.ts:
          this.start = this.number()
          break
        case Key.dur:
          this.duration = this.number()
          break
        case Key.id:
          this.id = this.integer()
          break
        case Key.args:
          if (value !== openBrace) return unusual
          this.args()
          break
        default:
          this.skip(value)
      }
      if (this.stop !== 0) return this.stop
    }
    if (this.stop !== 0) return this.stop
    this.isComplete = phase === completePhase
    this.isFlowStart = phase === flowStart
    return this.isWhole() ? this.at : unusual
  }

  /** What would need a word of its own is left to the reader of JSON. */
  private isWhole(): boolean {
    if (Number.isNaN(this.process) || Number.isNaN(this.thread) || Number.isNaN(this.start))
      return false
    return this.isComplete ? this.duration >= 0 && this.name >= 0 : !Number.isNaN(this.id)
  }

  private clear(): void {
    this.name = this.category = this.facts = -1
    this.process = this.thread = this.start = this.duration = this.id = NaN
    this.correlation = this.externalId = this.bytes = NaN
    this.hasGrid = false
    this.factLength = 0
  }

  private args(): void {
    const { argumentKeys } = this
    const begin = this.at++
    for (
      let key = this.nextKey(argumentKeys);
      key !== endOfObject;
      key = this.nextKey(argumentKeys)
    ) {
      const value = this.space()
      if (this.stop !== 0) return
      switch (key as Argument) {
        case Argument.correlation:
          this.correlation = this.number()
          break
        case Argument.externalId:
        case Argument.externalId2:
        case Argument.externalId3:
          this.externalId = this.number()
          break
        case Argument.bytes:
          this.bytes = this.number()
          break
        case Argument.callStack:
        case Argument.metrics:
        case Argument.node:
          return this.halt(unusual)
        case Argument.none:
          this.skip(value)
          break
        default:
          if ((key as Argument) === Argument.grid) this.hasGrid = true
          this.fact(key, value)
      }
      if (this.stop !== 0) return
    }
    if (this.stop === 0 && this.hasGrid) this.facts = this.describedFacts(begin)
  }

  /** Launches of one kernel repeat their facts byte for byte: each is described once. */
  private describedFacts(begin: number): number {
    let hash = hashSeed
    for (let at = 0; at < this.factLength; at++)
      hash = Math.imul(hash ^ this.rawFact[at]!, hashPrime)
    const raw = this.rawFacts.numberOf(this.rawFact, 0, this.factLength, hash)
    const known = this.factsOf[raw]
    if (known !== undefined) return known
    const args = JSON.parse(this.decoder.decode(this.data.subarray(begin, this.at))) as unknown
    const text = this.describe(args)
    return (this.factsOf[raw] = text === '' ? -1 : this.strings.intern(text))
  }

  private fact(key: number, first: number): void {
    const start = this.at
    this.skip(first)
    const length = this.at - start
    if (this.factLength + length + 1 > this.rawFact.length) return this.halt(unusual)
    this.rawFact[this.factLength++] = key
    for (let at = start; at < this.at; at++) this.rawFact[this.factLength++] = this.data[at]!
  }
}
