import type { Run } from '@shared/contract/run'
import { ask } from '@shared/profile/ask/ask'
import { treeOfRun } from '@shared/profile/read/runTree'
import { printTreeLines } from '@shared/profile/write/printTree'
import { print } from '../ground/terminal'

/** Prints a run's tree as the Triton tutorial does: TFLOP/s and milliseconds. Nothing where nothing was timed. */
export function printRunTree(run: Run): void {
  const tree = treeOfRun(run)
  if (tree.count === 1) return
  print('')
  print(printTreeLines(ask(tree, { metrics: ['tflop/s', 'time/ms'] })))
}
