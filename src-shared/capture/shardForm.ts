/**
 * The form of a shard: what one process of a capture leaves behind. A header page, then blocks of records of one kind,
 * little-endian; native/inject/shard.h writes it and docs/capture.md describes it.
 */
import { UserError } from '../errors'

export const shardMagic = 'BSCAPT\x1a\n'
export const shardVersion = 1
export const headerBytes = 4096
export const blockMagic = 0x4b4c4221
export const blockHeaderBytes = 16
/** A block holds at most this; more is damage. */
export const mostBlockBytes = 4 << 20

export const blockKinds = {
  text: 1,
  launches: 2,
  ranges: 3,
  kernels: 4,
  memory: 5,
  graphs: 6
} as const

/** Bytes of a record by kind of block; text has lines. */
export const recordBytes: Readonly<Record<number, number>> = {
  [blockKinds.launches]: 32,
  [blockKinds.ranges]: 24,
  [blockKinds.kernels]: 40,
  [blockKinds.memory]: 48,
  [blockKinds.graphs]: 40
}

export const shardStates = ['', 'waiting', 'recording', 'ended', 'failed'] as const
export type ShardState = (typeof shardStates)[number]

/** Where the header page has what. */
const at = {
  version: 8,
  pid: 16,
  parentPid: 20,
  startNs: 24,
  bodyBytes: 32,
  state: 40,
  sourceError: 44,
  endNs: 48,
  counters: 64
}
const mostCounters = (headerBytes - at.counters) / 8

export interface ShardHeader {
  pid: number
  parentPid: number
  /** CLOCK_REALTIME, ns; as in the file, since a double cannot hold it. */
  startNs: bigint
  /** Bytes of whole blocks, as far as the process got. */
  bodyBytes: number
  state: ShardState
  /** Of what failed, as CUPTI or rocprofiler-sdk numbers it; 0 otherwise. */
  sourceError: number
  /** 0 until the capture of the process ended. */
  endNs: bigint
  /** In the order that the shard's first text names them. */
  counters: number[]
}

/** @throws UserError where these are not the first bytes of a shard that is read here. */
export function readHeader(bytes: Uint8Array, fileName: string): ShardHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const version = view.getUint32(at.version, true)
  if (version !== shardVersion)
    throw new UserError(
      'usage',
      `${fileName} is a shard of version ${version}; this blockscope reads version ${shardVersion}.`
    )
  return {
    pid: view.getUint32(at.pid, true),
    parentPid: view.getUint32(at.parentPid, true),
    startNs: view.getBigUint64(at.startNs, true),
    bodyBytes: Number(view.getBigUint64(at.bodyBytes, true)),
    state: shardStates[view.getUint32(at.state, true)] ?? '',
    sourceError: view.getInt32(at.sourceError, true),
    endNs: view.getBigUint64(at.endNs, true),
    counters: Array.from({ length: mostCounters }, (_, i) =>
      Number(view.getBigUint64(at.counters + 8 * i, true))
    )
  }
}

export function isShard(bytes: Uint8Array): boolean {
  for (let i = 0; i < shardMagic.length; i++)
    if (bytes[i] !== shardMagic.charCodeAt(i)) return false
  return true
}

/** The one file of a capture that its command writes and every process maps: native/inject/shard.h's Control. */
export const controlMagic = 'BSCTRL\x1a\n'
export const controlBytes = 32
export const controlStates = { waiting: 0, recording: 1, ended: 2 } as const

export interface ControlCounts {
  /** Processes that started CUDA or HIP, that --only left out, and that could make no shard. */
  started: number
  passedOver: number
  withoutShard: number
  /** Why the last of those could not. */
  shardErrno: number
}

export const controlStateAt = 12

export function newControl(state: number): Uint8Array {
  const bytes = new Uint8Array(headerBytes)
  for (let i = 0; i < controlMagic.length; i++) bytes[i] = controlMagic.charCodeAt(i)
  const view = new DataView(bytes.buffer)
  view.setUint32(8, shardVersion, true)
  view.setUint32(controlStateAt, state, true)
  return bytes
}

export function readControl(bytes: Uint8Array): ControlCounts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [started, passedOver, withoutShard, shardErrno] = [16, 20, 24, 28].map((offset) =>
    view.getUint32(offset, true)
  )
  return {
    started: started!,
    passedOver: passedOver!,
    withoutShard: withoutShard!,
    shardErrno: shardErrno!
  }
}
