import { parseRun } from '../../contract/parseRun'
import type { Run } from '../../contract/run'
import type { ProfileTree } from '../tree/profileTree'
import { textOf } from './jsonValue'
import { treeOfRun } from './runTree'

/** A run's run.json. Steps of a run that is not finished lie beside it, where only its folder's reader finds them. */
export function readRun(bytes: Uint8Array, fileName: string): { run: Run; tree: ProfileTree } {
  const run = parseRun(textOf(bytes, fileName), fileName)
  return { run, tree: treeOfRun(run) }
}
