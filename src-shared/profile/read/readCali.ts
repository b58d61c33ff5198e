/**
 * Caliper's own stream, '.cali': a line per record, of attributes and regions ('__rec=node') or of values ('__rec=ctx')
 * (LLNL/Caliper, python/caliper-reader). Read line by line as it streams in.
 */
import { UserError } from '../../errors'
import { profileLimits } from '../tree/limits'
import { CaliperTable, type CaliperColumn } from './caliperTable'
import type { OpenedProfile, Parser } from './reader'

/** Attributes that are there before the file begins. */
const attributeName = 8
const attributeProperties = 10
const nestedProperty = 256
const hiddenProperty = 128
/** Names of the units, attributes of attributes. */
const unitAttribute = 'attribute.unit'
/** Numbers that tell records apart, and are no measurement. */
const labels = new Set([
  'mpi.rank',
  'rank',
  'omp.thread.id',
  'thread',
  'aggregate.slot',
  'cali.caliper.version'
])

interface CaliNode {
  attribute: number
  data: string
  parent: number
}

interface Attribute extends CaliperColumn {
  isNested: boolean
  isHidden: boolean
}

export class CaliParser implements Parser {
  private readonly decoder = new TextDecoder()
  private readonly nodes = new Map<number, CaliNode>([
    [attributeName, { attribute: attributeName, data: 'cali.attribute.name', parent: 3 }],
    [9, { attribute: attributeName, data: 'cali.attribute.type', parent: 7 }],
    [attributeProperties, { attribute: attributeName, data: 'cali.attribute.prop', parent: 1 }]
  ])
  private readonly attributes = new Map<number, Attribute | null>()
  private readonly table = new CaliperTable()
  private left = ''
  private line = 0

  constructor(private readonly fileName: string) {}

  write(chunk: Uint8Array): void {
    const lines = (this.left + this.decoder.decode(chunk, { stream: true })).split('\n')
    this.left = lines.pop()!
    if (this.left.length > 16 * profileLimits.stringBytes) this.fail('is longer than 16 MiB')
    for (const line of lines) this.takeLine(line)
  }

  finish(): OpenedProfile {
    this.takeLine(this.left + this.decoder.decode())
    if (this.table.records === 0)
      throw new UserError('usage', `${this.fileName}: the Caliper stream has no records of values.`)
    return { tree: this.table.finish(), timeline: null }
  }

  private takeLine(line: string): void {
    this.line++
    if (line.trim() === '') return
    const record = new Map(
      split(line.trimEnd(), ',').map((entry) => {
        const [key = '', ...values] = split(entry, '=').map(unescaped)
        return [key, values] as const
      })
    )
    const [kind] = record.get('__rec') ?? []
    if (kind === undefined) this.fail('does not begin with __rec=')
    if (kind === 'node') this.takeNode(record)
    else if (kind === 'ctx') this.takeContext(record)
  }

  private takeNode(record: ReadonlyMap<string, string[]>): void {
    const id = this.number(record, 'id')
    const [data = ''] = record.get('data') ?? []
    const parent = record.has('parent') ? this.number(record, 'parent') : -1
    this.nodes.set(id, { attribute: this.number(record, 'attr'), data, parent })
    this.attributes.delete(id)
  }

  private takeContext(record: ReadonlyMap<string, string[]>): void {
    const path: string[] = []
    for (const reference of record.get('ref') ?? []) path.push(...this.pathOf(Number(reference)))
    const data = record.get('data') ?? []
    const values: [CaliperColumn, number][] = []
    ;(record.get('attr') ?? []).forEach((id, at) => {
      const attribute = this.attribute(Number(id))
      const text = data[at] ?? ''
      const value = text.trim() === '' ? NaN : Number(text)
      if (attribute && !attribute.isHidden && !labels.has(attribute.name) && Number.isFinite(value))
        values.push([attribute, value])
    })
    this.table.add(path, values)
  }

  /** The regions from the outermost to this node: those whose attribute nests. */
  private pathOf(id: number): string[] {
    const path: string[] = []
    for (const node of this.chain(id)) {
      if (this.attribute(node.attribute)?.isNested) path.push(node.data)
    }
    return path.reverse()
  }

  private attribute(id: number): Attribute | null {
    let attribute = this.attributes.get(id)
    if (attribute === undefined) {
      attribute = null
      const node = this.nodes.get(id)
      if (node?.attribute === attributeName) {
        const above = this.chain(id)
        const properties = Number(
          above.find((at) => at.attribute === attributeProperties)?.data ?? 0
        )
        const unit = above.find((at) => this.nodes.get(at.attribute)?.data === unitAttribute)
        attribute = {
          name: node.data,
          unit: unit?.data ?? '',
          isNested: (properties & nestedProperty) !== 0,
          isHidden: (properties & hiddenProperty) !== 0
        }
      }
      this.attributes.set(id, attribute)
    }
    return attribute
  }

  /** A node and those above it. */
  private chain(id: number): CaliNode[] {
    const chain: CaliNode[] = []
    const seen = new Set<number>()
    for (let node = this.nodes.get(id); node; node = this.nodes.get(node.parent)) {
      if (seen.has(node.parent)) this.fail('names a node that is its own parent')
      seen.add(node.parent)
      chain.push(node)
    }
    return chain
  }

  private number(record: ReadonlyMap<string, string[]>, key: string): number {
    const value = Number(record.get(key)?.[0] ?? NaN)
    if (!Number.isInteger(value)) this.fail(`is a node without a number as ${key}`)
    return value
  }

  private fail(what: string): never {
    throw new UserError('usage', `${this.fileName}: line ${this.line} ${what}.`)
  }
}

/** Splits at a character unless a backslash stands before it; backslashes stay. */
function split(text: string, at: ',' | '='): string[] {
  const parts: string[] = []
  let start = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === at) {
      parts.push(text.slice(start, index))
      start = index + 1
    }
  }
  return [...parts, text.slice(start)]
}

const unescaped = (text: string) => text.replace(/\\n/g, '\n').replace(/\\(.)/g, '$1')
