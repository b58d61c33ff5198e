/** Several profiles under one ROOT: ranks of a training, parts of a session, files that have nothing to do with one another. */
import { PathTree } from '../tree/pathTree'
import type { ProfileDevice, ProfileTree } from '../tree/profileTree'
import { nodeName, samplesOf } from '../tree/profileTree'
import type { Timeline } from '../tree/timeline'
import { joinTimelines } from './joinTimelines'
import { nameParts } from './nameParts'
import type { OpenedProfile } from './reader'

export interface PartOfProfile extends Pick<OpenedProfile, 'tree' | 'timeline' | 'rank'> {
  fileName: string
}

/** One scope per file, named by rank, part or file; its tree hangs below it without its ROOT. */
export function joinProfiles(parts: readonly PartOfProfile[]): OpenedProfile {
  const { order, names, notes } = nameParts(parts)
  const joined = new PathTree()
  const devices = new JoinedDevices()
  const places = order.map((at) => {
    const { tree } = parts[at]!
    const scope = joined.newChild(0, names[at]!)
    return copyInto(joined, scope, tree, devices.add(tree.devices))
  })
  const formats = new Set(parts.map(({ tree }) => tree.format))
  const tree = joined.finish(formats.size === 1 ? [...formats][0]! : 'hatchet', devices.all, true)
  tree.warnings.push(...notes)
  const timed: { name: string; timeline: Timeline; node: Int32Array }[] = []
  const untimed: string[] = []
  /** Ranks have much the same to say. */
  const saidBy = new Map<string, string[]>()
  for (const [index, at] of order.entries()) {
    const { timeline, tree: part } = parts[at]!
    for (const warning of part.warnings)
      saidBy.set(warning, [...(saidBy.get(warning) ?? []), names[at]!])
    const node = places[index]!.map((place) => joined.order[place]!)
    if (timeline) timed.push({ name: names[at]!, timeline, node })
    else untimed.push(names[at]!)
  }
  for (const [warning, by] of saidBy) tree.warnings.push(`${list(by)}: ${warning}`)
  if (timed.length === 0) return { tree, timeline: null }
  const { timeline, notes: clocks } = joinTimelines(timed)
  tree.warnings.push(...clocks)
  if (untimed.length > 0)
    tree.warnings.push(`Not in the timeline, for they hold sums without times: ${list(untimed)}.`)
  return { tree, timeline }
}

const list = (names: readonly string[]) => names.join(', ')

/** @returns of each node of the tree the one it has become */
function copyInto(
  joined: PathTree,
  scope: number,
  tree: ProfileTree,
  deviceIds: ReadonlyMap<string, string>
): Int32Array {
  const place = new Int32Array(tree.count)
  for (let node = 0; node < tree.count; node++) {
    const above = tree.parent[node]!
    const isRoot = above < 0 && nodeName(tree, node) === 'ROOT'
    const type = tree.frameType[node]! < 0 ? null : tree.strings.text(tree.frameType[node]!)
    place[node] = isRoot
      ? scope
      : joined.newChild(above < 0 ? scope : place[above]!, nodeName(tree, node), type)
    for (const ns of samplesOf(tree, node)) joined.addSample(place[node]!, ns)
  }
  for (const column of tree.numbers) {
    for (let node = 0; node < tree.count; node++) {
      // Zeros of a ROOT are its list of inclusive metrics, which the joined ROOT gets anew.
      if (!column.written[node]) continue
      if (place[node] === scope && column.values[node] === 0) continue
      joined.addNumber(place[node]!, column.name, column.values[node]!, column.written[node] === 2)
    }
  }
  for (const column of tree.texts) {
    const isDevice = column.name === 'device_id'
    for (let node = 0; node < tree.count; node++) {
      if (column.values[node]! < 0) continue
      const text = tree.strings.text(column.values[node]!)
      const value = isDevice ? (deviceIds.get(text) ?? text) : text
      joined.setText(place[node]!, column.name, value)
    }
  }
  for (const vector of tree.vectors) {
    joined.addVector(place[vector.node]!, vector.name, vector.values, vector.written)
  }
  return place
}

/** Each host numbers its GPUs from 0: one that is not as another of its number gets a number of its own. */
class JoinedDevices {
  readonly all: ProfileDevice[] = []

  /** @returns new numbers by those of the file, where they differ */
  add(devices: readonly ProfileDevice[]): Map<string, string> {
    const renamed = new Map<string, string>()
    for (const device of devices) {
      const same = this.all.find((known) => isSame({ ...known, id: device.id }, device))
      const hasId = (id: string) => this.all.some((known) => known.id === id)
      if (this.all.some((known) => isSame(known, device))) continue
      let id = same?.id ?? device.id
      for (let free = 0; !same && hasId(id); free++) id = String(free)
      if (id !== device.id) renamed.set(device.id, id)
      if (!same) this.all.push({ ...device, id })
    }
    return renamed
  }
}

const isSame = (a: ProfileDevice, b: ProfileDevice): boolean =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort())
