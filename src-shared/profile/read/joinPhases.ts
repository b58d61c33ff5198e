/** The part files of one session, and any further profiles, under one ROOT. */
import { PathTree } from '../tree/pathTree'
import type { ProfileTree } from '../tree/profileTree'
import { nodeName, samplesOf } from '../tree/profileTree'

export interface Phase {
  name: string
  tree: ProfileTree
}

/** 'run.part_3.hatchet' -> 'phase 3'; null for other names. */
export function phaseOfFile(fileName: string): string | null {
  const part = /\.part_(\d+)\.[^./]+$/.exec(fileName)
  return part ? `phase ${Number(part[1])}` : null
}

/** One scope per phase, in the order given; the tree of a phase hangs below it without its ROOT. */
export function joinPhases(phases: readonly Phase[]): ProfileTree {
  const joined = new PathTree()
  for (const { name, tree } of phases) copyInto(joined, joined.newChild(0, name), tree)
  const devices = new Map(
    phases.flatMap(({ tree }) =>
      tree.devices.map((device) => [`${device.type} ${device.id}`, device])
    )
  )
  const tree = joined.finish('hatchet', [...devices.values()], true)
  tree.warnings.push(...phases.flatMap((phase) => phase.tree.warnings))
  return tree
}

function copyInto(joined: PathTree, scope: number, tree: ProfileTree): void {
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
    for (let node = 0; node < tree.count; node++) {
      if (column.values[node]! < 0) continue
      joined.setText(place[node]!, column.name, tree.strings.text(column.values[node]!))
    }
  }
  for (const vector of tree.vectors) {
    joined.addVector(place[vector.node]!, vector.name, vector.values, vector.written)
  }
}
