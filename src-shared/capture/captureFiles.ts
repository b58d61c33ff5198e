/** Which files a capture is made of, wherever they are listed: on a disk, in a folder that was dropped. */
import type { ShardHeader } from './shardForm'

export const captureFileName = 'capture.json'

/** What is put into the programs: the file's name wherever it lies. */
export const injectedLibrary = 'blockscope_inject.node'

export const isShardName = (name: string): boolean => name.endsWith('.shard')

/** Whether capture.json begins so: a run's run.json has a formatVersion too. */
export const saysCapture = (head: string): boolean =>
  /^\s*\{\s*"formatVersion"\s*:\s*\d+\s*,\s*"kind"\s*:\s*"capture"/.test(head)

/** Processes that launched something get a level of their own, where they are several. */
export const hasLaunched = ({ counters }: Pick<ShardHeader, 'counters'>): boolean =>
  counters.some((count) => count > 0)
