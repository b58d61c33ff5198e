import { pack } from 'msgpackr'
import type { ExportForm, Output } from '@shared/contract/methods'
import type { Run } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { writeHatchet } from '@shared/profile/writeHatchet'
import { runToHtml } from '@shared/report/html'
import { runToJunit } from '@shared/report/junit'
import { runToNvbench } from '@shared/report/nvbench'
import { runToCsv, runToMarkdown } from '@shared/report/text'
import { bundledFiles, type RunBundle } from '../store/importRun'
import { stringifyRun } from '../store/runFile'
import type { RunStore } from '../store/runStore'
import { profileName, profileOfRun } from './runProfile'
import { traceOfRun } from './runTrace'

/** A run as one file, in any of the forms that other tools read. */
export async function exportRun(
  store: RunStore,
  id: string,
  as: ExportForm
): Promise<Output<'runs.export'>> {
  const text = (name: string, content: string) => ({
    name: `${id}${name}`,
    bytes: new TextEncoder().encode(content)
  })
  const run = await store.read(id)
  switch (as) {
    case 'json':
      return text('.json', stringifyRun(run, 1) + '\n')
    case 'csv':
      return text('.csv', runToCsv(run))
    case 'markdown':
      return text('.md', runToMarkdown(run))
    case 'html':
      return text('.html', runToHtml(run))
    case 'nvbench':
      return text('.nvbench.json', runToNvbench(run))
    case 'junit':
      return text('.junit.xml', runToJunit(run))
    case 'hatchet':
      return { name: `${id}.hatchet`, bytes: await hatchet(store, run) }
    case 'trace':
      return text('.trace.json', traceOfRun(run))
    case 'folder':
      return { name: `${id}.blockscope-run`, bytes: await bundle(store, id) }
  }
}

/** A Buffer is a view on a pool; what crosses a process boundary is a Uint8Array of its own. */
function plain(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes)
}

/** The run's own profile; made anew for a run that came without one, or that was interrupted before it was written. */
async function hatchet(store: RunStore, run: Run): Promise<Uint8Array<ArrayBuffer>> {
  const stored = await store.file(run.id, profileName).catch(() => undefined)
  if (stored) return plain(stored)
  const tree = profileOfRun(run)
  if (tree.count <= 1) {
    throw new UserError('usage', `Run ${run.id} has no profile: no kernel was timed in it.`)
  }
  return plain(new TextEncoder().encode(writeHatchet(tree)))
}

async function bundle(store: RunStore, id: string): Promise<Uint8Array<ArrayBuffer>> {
  const files: RunBundle['files'] = {}
  for (const name of bundledFiles) {
    const bytes = await store.file(id, name).catch(() => undefined)
    if (bytes) files[name] = plain(bytes)
  }
  const content: RunBundle = { blockscopeRun: 1, files }
  return plain(pack(content))
}
