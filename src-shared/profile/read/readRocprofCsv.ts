/**
 * rocprofv3's CSV, as ROCm/rocprofiler-sdk's source/lib/output/generateCSV.cpp writes it: a file per domain (kernels, copies,
 * markers, APIs, counters, agents, statistics). Files of one process read one after another are one profile: their
 * header rows tell them apart.
 */
import { UserError } from '../../errors'
import type { ProfileDevice } from '../tree/profileTree'
import { ActivityProfile, type Instant } from './activityProfile'
import { CsvRows } from './csvRows'
import type { FileHead } from './fileHead'
import { splitCrossing, type NamedRange } from './nestedRanges'
import type { OpenedProfile, Parser } from './reader'
import { Allocations, copyName, dispatchFacts, isMarker } from './rocmActivity'
import { StatisticsTable } from './statisticsTable'

type Row = (column: string) => string

/** The columns that tell a file's kind, first to last as they are looked for. */
const kinds = {
  counters: ['Dispatch_Id', 'Kernel_Name', 'Counter_Name', 'Counter_Value'],
  kernels: ['Kernel_Name', 'Start_Timestamp', 'End_Timestamp', 'Workgroup_Size_X'],
  copies: ['Direction', 'Start_Timestamp', 'End_Timestamp'],
  calls: ['Domain', 'Function', 'Start_Timestamp', 'End_Timestamp'],
  agents: ['Node_Id', 'Agent_Type', 'Cu_Count'],
  statistics: ['Name', 'Calls', 'TotalDurationNs'],
  allocations: ['Kind', 'Operation', 'Allocation_Size', 'Start_Timestamp', 'End_Timestamp'],
  others: ['Kind', 'Operation', 'Start_Timestamp', 'End_Timestamp']
} as const
type Kind = keyof typeof kinds

/** What the first column of a header may be called: rows of data are not searched for more. */
const firstColumns = /^(Kind|Domain|Name|Node_Id|Correlation_Id|Dispatch_Id)$/

function kindOf(cells: readonly string[]): Kind | undefined {
  if (!firstColumns.test(cells[0] ?? '')) return undefined
  return (Object.keys(kinds) as Kind[]).find((kind) =>
    kinds[kind].every((column) => cells.includes(column))
  )
}

/** Whether the first line names the columns of one of these files. */
export function isRocprofCsv(head: FileHead): boolean {
  const line = /^[^\n]*/.exec(head.text)![0].replace(/\r$/, '')
  return kindOf(line.split(',').map((cell) => cell.replace(/^"|"$/g, ''))) !== undefined
}

interface Launch {
  row: Row
  counters: Map<string, number>
}

export class RocprofCsvParser implements Parser {
  private readonly profile = new ActivityProfile()
  private readonly rows: CsvRows
  private kind: Kind | undefined
  private columns = new Map<string, number>()
  private readonly ranges = new Map<string, (NamedRange & { row: Row })[]>()
  /** By dispatch: counters come row by row, and in a file of their own beside a trace of kernels. */
  private readonly counted = new Map<string, Launch>()
  private readonly statistics = new StatisticsTable()
  private readonly devices: ProfileDevice[] = []
  private readonly processes = new Set<string>()
  private readonly launches = new Map<string, number>()
  private readonly allocations: Row[] = []
  /** Of calls by correlation: an allocation does not say which thread made it. */
  private readonly callers = new Map<string, { process: string; thread: string }>()

  constructor(private readonly fileName: string) {
    this.rows = new CsvRows(fileName, (cells, line) => this.take(cells, line))
  }

  write(chunk: Uint8Array): void {
    this.rows.write(chunk)
  }

  finish(): OpenedProfile {
    this.rows.finish()
    for (const found of this.ranges.values()) {
      const { nested, crossing } = splitCrossing(found)
      for (const { name, row } of nested) this.addOnHost('range', name, row)
      for (const { name, row } of crossing)
        this.addOnHost('range', name, row, 'rocTX start/stop ranges')
    }
    this.addAllocations()
    for (const [dispatch, { row, counters }] of this.counted) {
      const launch = this.launches.get(dispatch)
      if (launch === undefined || launch < 0) this.addKernel(row, counters)
      else this.profile.count(launch, counters)
    }
    if (this.profile.isEmpty && this.statistics.count > 0)
      return { tree: this.statistics.finish('rocprofv3'), timeline: null }
    if (this.profile.isEmpty)
      throw new UserError(
        'usage',
        `${this.fileName}: rocprofv3's CSV without a row of kernels, copies, markers or calls.`
      )
    const notes =
      this.statistics.count > 0 ? ['Statistics say the same as the traces and were not read.'] : []
    return this.profile.finish('rocprofv3', this.devices, notes)
  }

  private take(cells: string[], line: number): void {
    // A header begins each file; a file given after another brings its own.
    const kind = kindOf(cells)
    if (kind !== undefined) {
      this.kind = kind
      this.columns = new Map(cells.map((cell, at) => [cell, at]))
      return
    }
    const { columns } = this
    if (this.kind === undefined || cells.length !== columns.size) {
      throw new UserError(
        'usage',
        `${this.fileName}: line ${line}: expected ${columns.size} values, found ${cells.length}.`
      )
    }
    const row: Row = (column) => cells[columns.get(column) ?? -1] ?? ''
    this.takeRow(row)
  }

  private takeRow(row: Row): void {
    switch (this.kind) {
      case 'kernels':
        this.launches.set(row('Dispatch_Id'), this.addKernel(row))
        return
      case 'counters':
        return this.takeCounter(row)
      case 'copies':
        this.addOnGpu('copy', copyName(row('Direction')), row, copyDevice(row))
        return
      case 'calls':
        return isMarker(row('Domain'))
          ? this.takeMarker(row)
          : this.addOnHost('call', row('Function'), row)
      case 'allocations':
        this.allocations.push(row)
        return
      case 'agents':
        return this.takeAgent(row)
      case 'statistics':
        return this.statistics.add(
          row('Name'),
          Number(row('TotalDurationNs')),
          Number(row('Calls'))
        )
      default:
        this.profile.passOver(`records of ${row('Kind').toLowerCase().replaceAll('_', ' ')} were`)
    }
  }

  private addKernel(row: Row, counters?: ReadonlyMap<string, number>): number {
    const axes = ['X', 'Y', 'Z']
    const facts = dispatchFacts({
      grid: axes.map((axis) => number(row(`Grid_Size_${axis}`))),
      workgroup: axes.map((axis) => number(row(`Workgroup_Size_${axis}`))),
      vectorRegisters: row('VGPR_Count'),
      accumulationRegisters: row('Accum_VGPR_Count'),
      scalarRegisters: row('SGPR_Count'),
      sharedBytes: row('LDS_Block_Size') || row('Group_Segment_Size'),
      scratchBytes: row('Scratch_Size') || row('Private_Segment_Size')
    })
    return this.addOnGpu('kernel', row('Kernel_Name'), row, row('Agent_Id'), facts, counters)
  }

  private addOnGpu(
    kind: 'kernel' | 'copy',
    name: string,
    row: Row,
    agent: string,
    facts: Readonly<Record<string, string>> = {},
    counters?: ReadonlyMap<string, number>
  ): number {
    const device = deviceId(agent)
    const stream = `Stream ${row('Stream_Id') || row('Queue_Id') || 'of copies'}`
    return this.profile.add({
      ...{ kind, name, process: gpuName(device), thread: stream, ...times(row) },
      correlation: correlationOf(row),
      facts: { device_id: device, device_type: 'HIP', stream, ...facts },
      ...(counters && { counters })
    })
  }

  private addOnHost(kind: 'call' | 'range', name: string, row: Row, thread?: string): void {
    this.processes.add(row('Process_Id'))
    if (this.processes.size > 1)
      throw new UserError(
        'usage',
        `${this.fileName}: calls of several processes (${[...this.processes].join(', ')}) cannot be joined with their kernels, which do not name theirs: give the files of one process at a time.`
      )
    const place = {
      process: `process ${row('Process_Id')}`,
      thread: thread ?? `Thread ${row('Thread_Id')}`
    }
    if (kind === 'call') this.callers.set(row('Correlation_Id'), place)
    this.profile.add({
      ...{ kind, name, ...times(row), ...place },
      correlation: kind === 'call' ? correlationOf(row) : NaN
    })
  }

  private addAllocations(): void {
    const found = new Allocations()
    for (const row of this.allocations) {
      const alone = { process: 'Memory allocations', thread: row('Agent_Id') }
      found.add({
        ...(this.callers.get(row('Correlation_Id')) ?? alone),
        ...times(row),
        operation: row('Operation'),
        address: row('Address'),
        bytes: number(row('Allocation_Size')) || 0
      })
    }
    found.addTo(this.profile)
  }

  /** A message does not tell push/pop from start/stop: what crosses another range was started and stopped. */
  private takeMarker(row: Row): void {
    const { start, end } = times(row)
    if (start === end) return this.profile.passOver('rocTX marks were')
    const range = { name: row('Function'), start, end, isFree: true, row }
    const found = this.ranges.get(row('Thread_Id'))
    if (found) found.push(range)
    else this.ranges.set(row('Thread_Id'), [range])
  }

  private takeCounter(row: Row): void {
    const id = row('Dispatch_Id')
    const launch = this.counted.get(id) ?? { row, counters: new Map<string, number>() }
    this.counted.set(id, launch)
    const name = row('Counter_Name')
    const before = launch.counters.get(name) ?? 0
    launch.counters.set(name, before + (number(row('Counter_Value')) || 0))
  }

  private takeAgent(row: Row): void {
    if (row('Agent_Type') !== 'GPU') return
    const id = row('Node_Id')
    this.profile.nameProcess(gpuName(id), `GPU ${id} (${row('Product_Name') || row('Name')})`)
    this.devices.push({
      type: 'HIP',
      id,
      arch: row('Name'),
      busWidthBits: 0,
      clockRateKHz: (number(row('Max_Engine_Clk_Fcompute')) || 0) * 1000,
      memoryClockRateKHz: 0,
      multiprocessors: number(row('Cu_Count')) || 0
    })
  }
}

/** 'Agent 4' of later versions, '4' of earlier ones. */
function deviceId(agent: string): string {
  return agent.replace(/^Agent /, '')
}

function gpuName(device: string): string {
  return `GPU ${device}`
}

/** Hosts are agents too: the device of a copy is where it went, or where it came from. */
function copyDevice(row: Row): string {
  return /TO_HOST$/.test(row('Direction')) ? row('Source_Agent_Id') : row('Destination_Agent_Id')
}

function number(text: string): number {
  return text === '' ? NaN : Number(text)
}

/** Times may need more than the 53 bits of a double. */
function instant(text: string): Instant {
  if (!/^\d{1,19}$/.test(text)) return NaN
  return text.length < 16 ? Number(text) : BigInt(text)
}

function times(row: Row): { start: Instant; end: Instant } {
  return { start: instant(row('Start_Timestamp')), end: instant(row('End_Timestamp')) }
}

function correlationOf(row: Row): number {
  const id = number(row('Correlation_Id'))
  return id > 0 ? id : NaN
}
