/**
 * Writes .hatchet as Proton does: a leading empty line, nlohmann's 4-space dump with keys in alphabetical order, a
 * final newline. Trees built here carry zeros on ROOT for every inclusive metric, so that hatchet and proton-viewer
 * of any version roll them up.
 */
import type { NumberColumn, ProfileDevice, ProfileTree } from '../tree/profileTree'
import { writtenAsFloat } from '../tree/profileTree'
import { fileKeyOf } from './hatchetKeys'

/** Below this depth the 4-space indentation would outgrow the data (10,000 levels: gigabytes), so none is written. */
const deepestIndented = 512

/** A number as nlohmann::json dumps it: 2 or 2.0, 1e+20, null for NaN. */
export function formatNumber(value: number, isFloat: boolean): string {
  if (!Number.isFinite(value)) return 'null'
  if (!isFloat) return Number.isInteger(value) ? BigInt(value).toString() : String(value)
  const text = Object.is(value, -0) ? '-0' : String(value)
  if (/[.]/.test(text) && !text.includes('e')) return text
  if (!text.includes('e')) {
    const digits = text.replace('-', '').length
    return digits <= 15 ? `${text}.0` : exponentForm(value)
  }
  return exponentForm(value)
}

/** nlohmann writes two digits of exponent at least: 1e+20, 1e-07; and leaves scientific form to 1e15 and above. */
function exponentForm(value: number): string {
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const power = Number(exponent)
  if (power < 0 && power >= -4) return String(value)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** The file in pieces of about a MiB, for a stream or a Blob. */
export function* hatchetPieces(tree: ProfileTree): Generator<string> {
  const writer = new HatchetWriter(tree)
  yield* writer.pieces()
}

export function writeHatchet(tree: ProfileTree): string {
  return [...hatchetPieces(tree)].join('')
}

interface Member {
  key: string
  keyJson: string
  text(node: number): string | undefined
}

class HatchetWriter {
  private readonly indented: boolean
  private readonly members: Member[]
  private readonly newline: string
  private readonly colon: string

  constructor(private readonly tree: ProfileTree) {
    let deepest = 0
    for (let i = 0; i < tree.count; i++) if (tree.depth[i]! > deepest) deepest = tree.depth[i]!
    this.indented = deepest <= deepestIndented
    this.newline = this.indented ? '\n' : ''
    this.colon = this.indented ? ': ' : ':'
    this.members = this.collectMembers()
  }

  *pieces(): Generator<string> {
    const { tree } = this
    const open: number[] = []
    let out = '\n['
    for (let node = 0; node < tree.count; node++) {
      const isFirst = node === 0 || tree.parent[node] === node - 1
      const level = 1 + open.length * 2
      out += `${isFirst ? '' : ','}${this.newline}${this.pad(level)}{${this.newline}`
      out += `${this.pad(level + 1)}"children"${this.colon}[`
      open.push(node)
      while (open.length > 0 && tree.end[open[open.length - 1]!] === node + 1) {
        const done = open.pop()!
        out += this.afterChildren(done, 1 + open.length * 2)
      }
      if (out.length > 1 << 20) {
        yield out
        out = ''
      }
    }
    if (tree.hasDeviceElement) {
      out += `${tree.count ? ',' : ''}${this.newline}${this.pad(1)}${this.devices()}`
    }
    yield `${out}${this.newline}]\n`
  }

  private pad(level: number): string {
    return this.indented ? ' '.repeat(level * 4) : ''
  }

  private afterChildren(node: number, level: number): string {
    const { tree, newline } = this
    const inner = this.pad(level + 1)
    const hasChildren = tree.end[node]! > node + 1
    let out = hasChildren ? `${newline}${inner}],${newline}` : `],${newline}`
    out += `${inner}"frame"${this.colon}{${newline}`
    out += `${this.pad(level + 2)}"name"${this.colon}${JSON.stringify(tree.strings.text(tree.name[node]!))}`
    if (tree.frameType[node]! >= 0) {
      const type = JSON.stringify(tree.strings.text(tree.frameType[node]!))
      out += `,${newline}${this.pad(level + 2)}"type"${this.colon}${type}`
    }
    out += `${newline}${inner}},${newline}`
    out += `${inner}"metrics"${this.colon}${this.metrics(node, level + 1)}`
    return `${out}${newline}${this.pad(level)}}`
  }

  private metrics(node: number, level: number): string {
    let out = ''
    for (const member of this.members) {
      const text = member.text(node)
      if (text === undefined) continue
      out += `${out ? ',' : ''}${this.newline}${this.pad(level + 1)}${member.keyJson}${this.colon}${text}`
    }
    return out ? `{${out}${this.newline}${this.pad(level)}}` : '{}'
  }

  private collectMembers(): Member[] {
    const { tree } = this
    const members: Member[] = []
    const add = (name: string, text: Member['text']) => {
      const key = fileKeyOf(tree, name)
      members.push({ key, keyJson: JSON.stringify(key), text })
    }
    for (const column of tree.numbers) add(column.name, (node) => numberText(column, node))
    for (const column of tree.texts) {
      add(column.name, (node) =>
        column.values[node]! < 0
          ? undefined
          : JSON.stringify(tree.strings.text(column.values[node]!))
      )
    }
    const vectorNames = new Set(tree.vectors.map((vector) => vector.name))
    for (const name of vectorNames) {
      const ofNode = new Map(
        tree.vectors.filter((vector) => vector.name === name).map((vector) => [vector.node, vector])
      )
      add(name, (node) => {
        const vector = ofNode.get(node)
        if (!vector) return undefined
        const isFloat = vector.written === writtenAsFloat
        return this.vectorText(
          [...vector.values].map((value) => formatNumber(value, isFloat)),
          node
        )
      })
    }
    return members.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  }

  private vectorText(items: string[], node: number): string {
    if (items.length === 0) return '[]'
    const level = 1 + this.tree.depth[node]! * 2 + 3
    const lines = items.map((item) => `${this.newline}${this.pad(level)}${item}`).join(',')
    return `[${lines}${this.newline}${this.pad(level - 1)}]`
  }

  private devices(): string {
    const types = new Map<string, ProfileDevice[]>()
    for (const device of this.tree.devices) {
      const list = types.get(device.type)
      if (list) list.push(device)
      else types.set(device.type, [device])
    }
    const typeTexts = [...types].sort(byKey).map(([type, devices]) => {
      const ids = devices.map((device): [string, string] => [device.id, this.device(device)])
      return [type, this.object(ids.sort(byKey), 2)] as const
    })
    return this.object(typeTexts, 1)
  }

  private device(device: ProfileDevice): string {
    return this.object(
      [
        ['arch', JSON.stringify(device.arch)],
        ['bus_width', String(device.busWidthBits)],
        ['clock_rate', String(device.clockRateKHz)],
        ['memory_clock_rate', String(device.memoryClockRateKHz)],
        ['num_sms', String(device.multiprocessors)]
      ],
      3
    )
  }

  private object(members: (readonly [string, string])[], level: number): string {
    if (members.length === 0) return '{}'
    const lines = members
      .map(
        ([key, value]) =>
          `${this.newline}${this.pad(level + 1)}${JSON.stringify(key)}${this.colon}${value}`
      )
      .join(',')
    return `{${lines}${this.newline}${this.pad(level)}}`
  }
}

function numberText(column: NumberColumn, node: number): string | undefined {
  const written = column.written[node]
  if (!written) return undefined
  const big = column.exact.get(node)
  return big === undefined
    ? formatNumber(column.values[node]!, written === writtenAsFloat)
    : String(big)
}

function byKey(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0
}
