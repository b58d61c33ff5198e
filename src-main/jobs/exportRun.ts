import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { pack } from 'msgpackr/pack'
import type { ExportForm, Output } from '@shared/contract/methods'
import type { Run } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { runToJunit } from '@shared/report/junit'
import { runToNvbench } from '@shared/report/nvbench'
import { runToCsv, runToMarkdown } from '@shared/report/text'
import { derivedFiles, profileName, traceName } from '../store/derivedFiles'
import { bundledFiles, type RunBundle } from '../store/importRun'
import { runFileName, stringifyRun } from '../store/runFile'
import type { LocatedRun } from '../store/runStore'

/** A run as one file, in any of the forms that other tools read. */
export async function exportRun(
  { run, folder }: LocatedRun,
  as: ExportForm
): Promise<Output<'runs.export'>> {
  const text = (name: string, content: string) => ({
    name: `${run.id}${name}`,
    bytes: new TextEncoder().encode(content)
  })
  switch (as) {
    case 'json':
      return text('.json', stringifyRun(run, 1) + '\n')
    case 'csv':
      return text('.csv', runToCsv(run))
    case 'markdown':
      return text('.md', runToMarkdown(run))
    case 'html':
      return text('.html', await htmlReport(run))
    case 'nvbench':
      return text('.nvbench.json', runToNvbench(run))
    case 'junit':
      return text('.junit.xml', runToJunit(run))
    case 'hatchet':
      return text('.hatchet', hatchet(run))
    case 'trace':
      return text('.trace.json', derivedFiles(run)[traceName]!)
    case 'folder':
      return { name: `${run.id}.blockscope-run`, bytes: await bundle(run, folder) }
  }
}

/** What draws its charts is loaded with the first report. */
export async function htmlReport(run: Run): Promise<string> {
  const { runToHtml } = await import('@shared/report/html')
  return runToHtml(run)
}

/** A Buffer is a view on a pool; what crosses a process boundary is a Uint8Array of its own. */
function plain(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes)
}

function hatchet(run: Run): string {
  const profile = derivedFiles(run)[profileName]
  if (profile !== undefined) return profile
  throw new UserError('usage', `Run ${run.id} has no profile: no kernel was timed in it.`)
}

async function bundle(run: Run, folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const files: RunBundle['files'] = {}
  const derived = derivedFiles(run)
  for (const name of bundledFiles) {
    const text = name === runFileName ? stringifyRun(run, 1) + '\n' : derived[name]
    const bytes =
      text === undefined
        ? await readFile(join(folder, name)).catch(() => undefined)
        : new TextEncoder().encode(text)
    if (bytes) files[name] = plain(bytes)
  }
  const content: RunBundle = { blockscopeRun: 1, files }
  return plain(await promisify(gzip)(pack(content)))
}
