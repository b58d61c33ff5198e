/**
 * What an export of Nsight Systems says of NVTX ranges beside their text: domain, category and payload. Event types, columns
 * and the joined name ("NCCL:ncclAllReduce") are those of NVIDIA's own report scripts (nvtx_sum.py) and "SQLite Schema
 * Reference".
 */
import type { SqliteValue } from './sqliteFile'

/** Types of rows that name things (ENUM_NSYS_EVENT_TYPE). */
export const categoryEvent = 33
export const domainEvent = 75

/** Columns behind those that every range has, in this order. */
export const nvtxColumns = [
  ...['domainId', 'category', 'jsonText', 'jsonTextId'],
  ...['uint64Value', 'int64Value', 'doubleValue', 'uint32Value', 'int32Value', 'floatValue']
] as const

type Cells = readonly (SqliteValue | undefined)[]

/** A payload is any text: so much of it is kept. */
const longestPayload = 1000

export class NvtxNames {
  private readonly domains = new Map<string, string>()
  private readonly categories = new Map<string, string>()

  /** @param textOf the string of an id */
  constructor(private readonly textOf: (id: SqliteValue | undefined) => string) {}

  /** Domains and categories are numbered by each process. */
  nameDomain(process: string, more: Cells, name: string): void {
    const key = `${process} ${String(more[0])}`
    // The first stands, as in nsys's own reports.
    if (!this.domains.has(key)) this.domains.set(key, name)
  }

  nameCategory(process: string, more: Cells, name: string): void {
    this.categories.set(`${process} ${String(more[0])} ${String(more[1])}`, name)
  }

  /** '' for the global domain, which has no name. */
  domain(process: string, more: Cells): string {
    return this.domains.get(`${process} ${String(more[0])}`) ?? ''
  }

  /** Properties of a range; none where it has none. */
  facts(process: string, more: Cells): Record<string, string> | undefined {
    const [domainId, category, json, jsonId, ...numbers] = more
    const domain = this.domain(process, more)
    const named = this.categories.get(`${process} ${String(domainId)} ${String(category)}`)
    const number = numbers.find((value) => typeof value === 'number' || typeof value === 'bigint')
    const text = typeof json === 'string' && json !== '' ? json : this.textOf(jsonId)
    const payload = text !== '' ? text.slice(0, longestPayload) : number?.toString()
    const facts = {
      ...(domain !== '' && { domain }),
      ...(named !== undefined && { category: named }),
      ...(payload !== undefined && { payload })
    }
    return Object.keys(facts).length > 0 ? facts : undefined
  }
}
