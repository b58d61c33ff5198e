import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deriveMetric } from '@shared/profile/deriveMetric'
import { printTree } from '@shared/profile/printTree'
import { readHatchet } from '@shared/profile/readHatchet'
import { profileName } from '../jobs/runProfile'

/** Prints the tree of a run's profile.hatchet as the Triton tutorial does: TFLOP/s and milliseconds. */
export async function printRunTree(folder: string): Promise<void> {
  let bytes: Uint8Array
  try {
    bytes = await readFile(join(folder, profileName))
  } catch {
    // A run in which nothing was timed has no profile.
    return
  }
  const tree = readHatchet(bytes, profileName)
  const metrics = ['tflop/s', 'time/ms'].map((name) => deriveMetric(tree, name))
  process.stdout.write('\n' + printTree(tree, metrics))
}
