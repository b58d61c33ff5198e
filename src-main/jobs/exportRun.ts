import { pack } from 'msgpackr'
import type { Output, ParsedInput } from '@shared/contract/methods'
import { runToHtml } from '@shared/report/html'
import { runToNvbench } from '@shared/report/nvbench'
import { runToCsv, runToMarkdown } from '@shared/report/text'
import { bundledFiles, type RunBundle } from '../store/importRun'
import { stringifyRun } from '../store/runFile'
import type { RunStore } from '../store/runStore'

type ExportAs = ParsedInput<'runs.export'>['as']

/** A run as one file, in any of the forms that other tools read. */
export async function exportRun(
  store: RunStore,
  id: string,
  as: ExportAs
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
    case 'hatchet':
      return { name: `${id}.hatchet`, bytes: plain(await store.file(id, 'profile.hatchet')) }
    case 'trace':
      return { name: `${id}.trace.json`, bytes: plain(await store.file(id, 'trace.json')) }
    case 'folder':
      return { name: `${id}.blockscope-run`, bytes: await bundle(store, id) }
  }
}

/** A Buffer is a view on a pool; what crosses a process boundary is a Uint8Array of its own. */
function plain(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(bytes)
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
