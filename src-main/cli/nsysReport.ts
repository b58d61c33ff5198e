/** Reports of Nsight Systems, whose form is not public: nsys itself exports them, where it is installed. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, UserError } from '@shared/errors'
import { nsysReportName } from '@shared/profile/read/readers'

const run = promisify(execFile)

/** By its name alone: its content begins as nothing that is documented. */
export function isNsysReport(file: string): boolean {
  return nsysReportName.test(file)
}

/**
 * Exports a report to SQLite beside no one's files, hands over the export and removes it again.
 * @throws UserError where nsys is not on the path or refuses the report.
 */
export async function withNsysExport<T>(report: string, read: (database: string) => T): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'blockscope-nsys-'))
  try {
    const database = join(folder, `${basename(report)}.sqlite`)
    await run('nsys', ['export', '--type', 'sqlite', '--output', database, report])
    return read(database)
  } catch (error) {
    if (error instanceof UserError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new UserError(
        'unavailable',
        `${basename(report)} is a report of Nsight Systems, and nsys, which exports it, is not on the path: run nsys export --type sqlite ${basename(report)} where it is installed and open what that writes.`
      )
    const said = (error as { stderr?: string }).stderr?.trim().split('\n').pop()
    throw new UserError(
      'usage',
      `nsys export cannot read ${basename(report)}: ${said || messageOf(error)}`,
      { cause: error }
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
