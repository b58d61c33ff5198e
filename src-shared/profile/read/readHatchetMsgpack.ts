/** .hatchet_msgpack: the same tree in MessagePack, read with the same tolerance as the JSON form. */
import { UserError } from '../../errors'
import { decodeMsgpack, MsgpackFloat, type MsgpackMap } from './msgpackDecode'
import { writtenAsFloat, writtenAsInteger, type ProfileTree } from '../tree/profileTree'
import { setDeviceNumber } from './hatchetDevice'
import { TreeBuilder } from '../tree/treeBuilder'

export function readHatchetMsgpack(bytes: Uint8Array, fileName: string): ProfileTree {
  const decoded = decodeMsgpack(bytes, fileName)
  const top = Array.isArray(decoded) ? (decoded as unknown[]) : [decoded]
  const builder = new TreeBuilder()
  builder.hasDeviceElement = false
  for (const element of top) {
    if (!(element instanceof Map)) throw wrong(fileName, 'a map', element)
    if (isNode(element)) addTree(builder, element, fileName)
    else {
      builder.hasDeviceElement = true
      addDevices(builder, element)
    }
  }
  if (builder.count === 0) throw new UserError('usage', `${fileName}: expected a tree, found none.`)
  return builder.finish('hatchet_msgpack')
}

/**
 * Whether bytes begin as a tree in MessagePack does: a node, or a list whose first element is one. The first byte alone
 * would not tell: Python's pickles begin with 0x80 too, which is an empty map here.
 */
export function isHatchetMsgpack(bytes: Uint8Array): boolean {
  let at = 0
  const list = bytes[0] ?? 0
  if (list >= 0x91 && list <= 0x9f) at = 1
  else if (list === 0xdc) at = 3
  else if (list === 0xdd) at = 5
  const map = bytes[at] ?? 0
  if (map === 0xde) at += 3
  else if (map === 0xdf) at += 5
  else if (map > 0x80 && map <= 0x8f) at += 1
  else return false
  const length = (bytes[at] ?? 0) ^ 0xa0
  if (length > 0x1f) return false
  return nodeKeys.includes(new TextDecoder().decode(bytes.subarray(at + 1, at + 1 + length)))
}

const nodeKeys = ['frame', 'metrics', 'children', 'name']

function isNode(element: MsgpackMap): boolean {
  return nodeKeys.some((key) => element.has(key))
}

function addTree(builder: TreeBuilder, root: MsgpackMap, fileName: string): void {
  const stack: { node: MsgpackMap; children: unknown[]; next: number }[] = []
  const enter = (value: unknown) => {
    if (!(value instanceof Map)) throw wrong(fileName, 'a node map', value)
    const children = value.get('children') ?? []
    if (!Array.isArray(children)) throw wrong(fileName, 'an array of children', children)
    addNode(builder, value, fileName)
    stack.push({ node: value, children, next: 0 })
  }
  enter(root)
  while (stack.length > 0) {
    const top = stack[stack.length - 1]!
    if (top.next < top.children.length) enter(top.children[top.next++])
    else {
      builder.close()
      stack.pop()
    }
  }
}

function addNode(builder: TreeBuilder, value: MsgpackMap, fileName: string): void {
  const node = builder.open()
  const frame = value.get('frame')
  const name = (frame instanceof Map ? frame.get('name') : undefined) ?? value.get('name')
  if (typeof name !== 'string') throw wrong(fileName, 'a frame with a name', name)
  builder.setName(node, builder.strings.intern(name))
  const type = frame instanceof Map ? frame.get('type') : undefined
  if (typeof type === 'string') builder.setType(node, builder.strings.intern(type))
  const metrics = value.get('metrics')
  if (!(metrics instanceof Map)) return
  for (const [key, metric] of metrics) addMetric(builder, node, String(key), metric)
}

function addMetric(builder: TreeBuilder, node: number, key: string, metric: unknown): void {
  const id = builder.strings.intern(key)
  if (metric instanceof MsgpackFloat) builder.setNumber(node, id, metric.value, true)
  else if (typeof metric === 'number') builder.setNumber(node, id, metric, false)
  else if (typeof metric === 'bigint') builder.setBigInteger(node, id, metric)
  else if (typeof metric === 'string') builder.setText(node, id, builder.strings.intern(metric))
  else if (Array.isArray(metric)) {
    const isFloat = metric.some((item) => item instanceof MsgpackFloat)
    const values = Float64Array.from(metric, (item) =>
      Number(item instanceof MsgpackFloat ? item.value : item)
    )
    const written = isFloat ? writtenAsFloat : writtenAsInteger
    builder.vectors.push({ node, name: key, values, written })
  }
}

function addDevices(builder: TreeBuilder, element: MsgpackMap): void {
  for (const [type, devices] of element) {
    if (!(devices instanceof Map)) continue
    for (const [id, properties] of devices) {
      if (!(properties instanceof Map)) continue
      const device = {
        type: String(type),
        id: String(id),
        arch: String(properties.get('arch') ?? ''),
        busWidthBits: 0,
        clockRateKHz: 0,
        memoryClockRateKHz: 0,
        multiprocessors: 0
      }
      for (const [key, value] of properties) setDeviceNumber(device, String(key), Number(value))
      builder.devices.push(device)
    }
  }
}

function wrong(fileName: string, expected: string, found: unknown): UserError {
  const kind = found instanceof Map ? 'a map' : Array.isArray(found) ? 'an array' : typeof found
  return new UserError('usage', `${fileName}: expected ${expected}, found ${kind}.`)
}
