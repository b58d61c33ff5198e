import { nestedIntervals } from '../ask/nestedIntervals'
import { nodeName, type ProfileTree } from '../tree/profileTree'

/** speedscope's evented form (https://www.speedscope.app/file-format-schema.json): opens and closes in order of time. */
export function* speedscopePieces(
  tree: ProfileTree,
  profileName: string,
  nameOf: (name: string) => string
): Generator<string> {
  const { metric, start, end } = nestedIntervals(tree)
  const frameOf = new Map<number, number>()
  const frames: { name: string }[] = []
  for (let node = 0; node < tree.count; node++) {
    const id = tree.name[node]!
    if (frameOf.has(id)) continue
    frameOf.set(id, frames.length)
    frames.push({ name: nameOf(nodeName(tree, node)) })
  }
  const head = {
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    name: profileName,
    exporter: 'blockscope',
    shared: { frames }
  }
  const unit = metric.includes('(ns)') ? 'nanoseconds' : 'none'
  let endValue = 0
  for (const value of end) endValue = Math.max(endValue, value)
  const profile = { type: 'evented', name: metric, unit, startValue: 0, endValue }
  yield `${JSON.stringify(head).slice(0, -1)},"profiles":[${JSON.stringify(profile).slice(0, -1)},"events":[\n`
  const open: number[] = []
  let separator = ''
  const event = (type: 'O' | 'C', node: number, at: number) => {
    const text = `${separator}{"type":"${type}","frame":${frameOf.get(tree.name[node]!)},"at":${at}}`
    separator = ',\n'
    return text
  }
  for (let node = 0; node < tree.count; node++) {
    if (end[node]! > start[node]!) {
      yield event('O', node, start[node]!)
      open.push(node)
    }
    while (open.length > 0 && tree.end[open[open.length - 1]!]! <= node + 1) {
      const done = open.pop()!
      yield event('C', done, end[done]!)
    }
  }
  yield '\n]}]}\n'
}
