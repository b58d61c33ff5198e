/** Complete events of a trace as columns that grow: ten million of them fit where objects would not. */
import { doubles, integers } from '../tree/growing'
import { StringTable } from '../tree/stringTable'
import type { Lane } from '../tree/timeline'

export interface TraceEvent {
  name: string
  category: string
  lane: number
  startNs: number
  durationNs: number
  /** Node of the tree under construction, where the event itself says it; else -1. */
  node: number
  /** Kineto's "correlation" of a launch and what it launched, and "External id" of the operator; NaN: none. */
  correlation: number
  externalId: number
  /** Bytes of a copy or a set; NaN: none. */
  bytes: number
  /** Facts of a launch as JSON (grid, block, registers); '': none. */
  facts: string
}

export class TraceColumns {
  readonly strings = new StringTable()
  readonly lanes: Lane[] = []
  count = 0
  private readonly columns = {
    name: integers(),
    category: integers(),
    lane: integers(),
    startNs: doubles(),
    durationNs: doubles(),
    node: integers(),
    correlation: doubles(),
    externalId: doubles(),
    bytes: doubles(),
    facts: integers()
  }
  private readonly laneOf = new Map<string, number>()
  private readonly numbered = new Map<number, Map<number, number>>()
  private readonly keys: string[] = []
  private readonly laneNames = new Map<string, string>()
  private readonly processNames = new Map<string, string>()
  private readonly processLabels = new Map<string, string>()

  add(event: TraceEvent): number {
    const { strings } = this
    const name = strings.intern(event.name)
    const category = strings.intern(event.category)
    const facts = event.facts === '' ? -1 : strings.intern(event.facts)
    return this.addInterned(event, name, category, facts)
  }

  /** As add, of an event whose texts are ids of `strings`. */
  addInterned(
    event: Omit<TraceEvent, 'name' | 'category' | 'facts'>,
    name: number,
    category: number,
    facts: number
  ): number {
    const { columns } = this
    columns.name.push(name)
    columns.category.push(category)
    columns.lane.push(event.lane)
    columns.startNs.push(event.startNs)
    columns.durationNs.push(event.durationNs)
    columns.node.push(event.node)
    columns.correlation.push(event.correlation)
    columns.externalId.push(event.externalId)
    columns.bytes.push(event.bytes)
    columns.facts.push(facts)
    return this.count++
  }

  lane(process: string, thread: string): number {
    const key = `${process}\0${thread}`
    let lane = this.laneOf.get(key)
    if (lane === undefined) {
      lane = this.lanes.length
      this.laneOf.set(key, lane)
      this.keys.push(key)
      this.lanes.push({ name: thread, process, processId: process, processLabel: '' })
    }
    return lane
  }

  /** As lane, of a process and a thread that are whole numbers. */
  numberedLane(process: number, thread: number): number {
    let ofProcess = this.numbered.get(process)
    if (!ofProcess) this.numbered.set(process, (ofProcess = new Map()))
    let lane = ofProcess.get(thread)
    if (lane === undefined)
      ofProcess.set(thread, (lane = this.lane(String(process), String(thread))))
    return lane
  }

  nameThread(process: string, thread: string, name: string): void {
    this.laneNames.set(`${process}\0${thread}`, name)
  }

  nameProcess(process: string, name: string): void {
    this.processNames.set(process, name)
  }

  labelProcess(process: string, label: string): void {
    this.processLabels.set(process, label)
  }

  /** As the file names it; its id where it does not. */
  processName(process: string): string {
    return this.processNames.get(process) ?? process
  }

  /** Names come anywhere in a file: they are given to the lanes at its end. */
  nameLanes(): void {
    this.lanes.forEach((lane, index) => {
      const key = this.keys[index]!
      lane.name = this.laneNames.get(key) ?? lane.name
      lane.processLabel = this.processLabels.get(lane.processId) ?? ''
      lane.process = this.processName(lane.processId)
    })
  }

  finish() {
    const { columns } = this
    return {
      name: columns.name.trimmed(),
      category: columns.category.trimmed(),
      lane: columns.lane.trimmed(),
      startNs: columns.startNs.trimmed(),
      durationNs: columns.durationNs.trimmed(),
      node: columns.node.trimmed(),
      correlation: columns.correlation.trimmed(),
      externalId: columns.externalId.trimmed(),
      bytes: columns.bytes.trimmed(),
      facts: columns.facts.trimmed()
    }
  }
}

export type FinishedColumns = ReturnType<TraceColumns['finish']>
