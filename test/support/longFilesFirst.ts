/**
 * The order of test files: those that take longest are begun first, so that none of them is left alone at the end while the
 * other workers have nothing to do. By size, as vitest has it on a machine without a record of times, the check of
 * native/test (a few lines that compile every program there) comes last.
 */
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In the order in which they begin. */
export const longFiles = [
  // Compiles and runs every program of native/test.
  'test/unit/native/core.test.ts',
  // Waits for Slurm's daemons most of the time.
  'test/unit/main/cli/fleetSlurm.test.ts',
  'test/unit/docs/printedCommands.test.ts',
  'test/unit/scripts/kernelsCheck.test.ts',
  'test/unit/scripts/kernelsCheckAmd.test.ts'
]

export default class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    for (const file of longFiles)
      if (!existsSync(file))
        throw new Error(`test/support/longFilesFirst.ts names ${file}, which is not there.`)
    const place = ({ moduleId }: TestSpecification) => {
      const at = longFiles.indexOf(relative(this.ctx.config.root, moduleId).replaceAll('\\', '/'))
      return at < 0 ? longFiles.length : at
    }
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}
