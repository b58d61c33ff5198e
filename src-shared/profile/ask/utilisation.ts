/**
 * util: the time the device's peaks would need, over the time taken. 0.25 = a quarter of peak; can exceed 1 when the
 * peak of the table is not the unit that did the work.
 */
import { quotient, seconds } from './amounts'
import { ownText, ownValue, numberColumn, textColumn, type ProfileTree } from '../tree/profileTree'
import { cached, metricValues, skippedMask, sumUp, type RollUpRules } from '../tree/rollUp'
import { peakBandwidth, peakFlops, type PeakOrReason } from '../../measurement/peaks'

interface MinimalTimes {
  flops: Float64Array
  bytes: Float64Array
  /** Why a node gave nothing although it has an amount. */
  reasons: Map<number, string>
}

const ourWidths = [4, 8, 16, 32, 64] as const
const protonWidths = [8, 16, 32, 64] as const
const severalDevices = -2
const noWidth = 'flops without an operand width (flops8, flops16) and no bytes: no peak applies'
const noAmounts = 'no bytes and no flops of known operand width recorded under this scope'

export interface Utilisation {
  /** Shared between callers: do not write into it. */
  values: Float64Array
  reason: (node: number) => string
}

export const utilisation = (tree: ProfileTree, rules: RollUpRules): Utilisation =>
  cached(tree, `util|${rules.proton}|${rules.metadata}`, () => utilisationOf(tree, rules))

function utilisationOf(tree: ProfileTree, rules: RollUpRules): Utilisation {
  const time = seconds(tree, rules, 'util')
  const minimal = rules.proton ? protonTimes(tree, rules) : ownTimes(tree, rules)
  const unaccounted = rules.proton ? null : unaccountedWork(tree, rules)
  if (!rules.proton) {
    sumUp(tree, minimal.flops)
    sumUp(tree, minimal.bytes)
  }
  const values = new Float64Array(tree.count).fill(NaN)
  for (let node = 0; node < tree.count; node++) {
    if (unaccounted?.[node]) continue
    values[node] = quotient(larger(minimal.flops[node]!, minimal.bytes[node]!), time.at(node))
  }
  const below = reasonBelow(tree, minimal.reasons)
  const reason = (node: number) => {
    if (Number.isNaN(time.at(node))) return 'no time (ns) recorded under this scope'
    if (time.at(node) === 0) return 'its time is 0'
    if (unaccounted?.[node]) return noWidth
    return below(node) ?? noAmounts
  }
  return { values, reason }
}

/** 1 for nodes with flops below them that no peak applies to: a utilisation of the rest would mislead. */
function unaccountedWork(tree: ProfileTree, rules: RollUpRules): Uint8Array {
  const marked = new Uint8Array(tree.count)
  const plain = numberColumn(tree, 'flops')
  if (!plain) return marked
  const skipped = skippedMask(tree, rules)
  const others = [...ourWidths.map((width) => `flops${width}`), 'bytes'].flatMap(
    (name) => numberColumn(tree, name) ?? []
  )
  for (let node = tree.count - 1; node >= 0; node--) {
    const above = tree.parent[node]!
    const counts = plain.values[node]! > 0 && !skipped[node]
    if (counts && !others.some((column) => column.written[node])) marked[node] = 1
    if (marked[node] && above >= 0) marked[above] = 1
  }
  return marked
}

/** From each node's own amounts, so that scopes are sums and mixed devices each count at their own peak. */
function ownTimes(tree: ProfileTree, rules: RollUpRules): MinimalTimes {
  const flops = new Float64Array(tree.count).fill(NaN)
  const bytes = new Float64Array(tree.count).fill(NaN)
  const reasons = new Map<number, string>()
  const device = deviceOfNodes(tree)
  const skipped = skippedMask(tree, rules)
  const byteColumn = numberColumn(tree, 'bytes')
  const widths = ourWidths.map((width) => ({ width, column: numberColumn(tree, `flops${width}`) }))
  for (let node = 0; node < tree.count; node++) {
    if (skipped[node] || tree.parent[node]! < 0) continue
    const amounts = widths.filter(({ column }) => column?.written[node])
    const hasBytes = byteColumn?.written[node]
    if (amounts.length === 0 && !hasBytes) continue
    if (device[node]! < 0) {
      reasons.set(
        node,
        device[node] === severalDevices
          ? 'recorded on a scope that ran on several devices'
          : 'the profile does not say which device this ran on'
      )
      continue
    }
    const on = tree.devices[device[node]!]!
    for (const { width, column } of amounts) {
      const peak = peakFlops(on, width)
      add(flops, node, ownValue(column, node), peak, reasons)
    }
    if (hasBytes) add(bytes, node, ownValue(byteColumn, node), peakBandwidth(on), reasons)
  }
  return { flops, bytes, reasons }
}

/** proton-viewer's: only rows with a device_id, matched by id alone, from their columns as they stand. */
function protonTimes(tree: ProfileTree, rules: RollUpRules): MinimalTimes {
  const flops = new Float64Array(tree.count).fill(NaN)
  const bytes = new Float64Array(tree.count).fill(NaN)
  const reasons = new Map<number, string>()
  const ids = textColumn(tree, 'device_id')
  const widths = protonWidths
    .filter((width) => numberColumn(tree, `flops${width}`))
    .map((width) => ({ width, values: metricValues(tree, `flops${width}`, rules) }))
  const byteValues = numberColumn(tree, 'bytes') && metricValues(tree, 'bytes', rules)
  const byId = new Map(tree.devices.map((device) => [device.id, device]))
  for (let node = 0; node < tree.count; node++) {
    const id = ownText(tree, ids, node)
    if (id === '') {
      reasons.set(node, 'no device_id on this node')
      continue
    }
    const device = byId.get(id)
    // The viewer starts from 0; without any bytes it fails, and there is nothing to start from.
    if (byteValues) flops[node] = 0
    if (!device) continue
    for (const { width, values } of widths) {
      if (!Number.isNaN(values[node]))
        add(flops, node, values[node]!, peakFlops(device, width, true), reasons)
    }
    const amount = byteValues?.[node] ?? NaN
    if (!Number.isNaN(amount)) add(bytes, node, amount, peakBandwidth(device), reasons)
  }
  return { flops, bytes, reasons }
}

function add(
  times: Float64Array,
  node: number,
  amount: number,
  peak: PeakOrReason,
  reasons: Map<number, string>
): void {
  if ('reason' in peak) reasons.set(node, peak.reason)
  else times[node] = (Number.isNaN(times[node]) ? 0 : times[node]!) + amount / peak.value
}

/** Index into tree.devices per node: its own, or the only one below it; -1 unknown, -2 several. */
function deviceOfNodes(tree: ProfileTree): Int32Array {
  const ids = textColumn(tree, 'device_id')
  const types = textColumn(tree, 'device_type')
  const device = new Int32Array(tree.count).fill(-1)
  const only = tree.devices.length === 1 ? 0 : -1
  const known = new Map<string, number>()
  for (let node = tree.count - 1; node >= 0; node--) {
    if (ids && ids.values[node]! >= 0) {
      const key = `${ownText(tree, types, node)} ${ownText(tree, ids, node)}`
      let index = known.get(key)
      if (index === undefined) {
        index = findDevice(tree, ownText(tree, types, node), ownText(tree, ids, node))
        known.set(key, index)
      }
      device[node] = index
    }
    const above = tree.parent[node]!
    if (above < 0 || device[node] === -1) continue
    device[above] =
      device[above] === -1 || device[above] === device[node] ? device[node]! : severalDevices
  }
  for (let node = 0; node < tree.count; node++) if (device[node] === -1) device[node] = only
  return device
}

/** By type and id; by id alone where the type is the enum number that cycle metrics carry. */
function findDevice(tree: ProfileTree, type: string, id: string): number {
  const exact = tree.devices.findIndex((device) => device.id === id && device.type === type)
  if (exact >= 0) return exact
  const sameId = tree.devices.filter((device) => device.id === id)
  return sameId.length === 1 ? tree.devices.indexOf(sameId[0]!) : -1
}

function larger(a: number, b: number): number {
  if (Number.isNaN(a)) return b
  return Number.isNaN(b) ? a : Math.max(a, b)
}

/** A look-up of the first node within a subtree that has a reason. Reasons were put in in node order. */
function reasonBelow(
  tree: ProfileTree,
  reasons: Map<number, string>
): (node: number) => string | undefined {
  const nodes = Int32Array.from(reasons.keys())
  return (node) => {
    let low = 0
    let high = nodes.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (nodes[middle]! < node) low = middle + 1
      else high = middle
    }
    const found = nodes[low]
    return found !== undefined && found < tree.end[node]! ? reasons.get(found) : undefined
  }
}
