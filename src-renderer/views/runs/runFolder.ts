/** Run folders as they lie on a disk, on their way into the store: each becomes one file that runs.import takes. */
import { Packr } from 'msgpackr'
import { UserError } from '@shared/errors'
import type { FileAt } from '../../ground/droppedFiles'

/** The files of a run folder; what else lies there stays there. */
const runFiles = ['run.json', 'samples.jsonl', 'profile.hatchet', 'trace.json']

// Without records msgpackr never builds code from strings, which the page's security policy forbids.
const packr = new Packr({ useRecords: false })

/** One bundle per folder that holds a run.json, whatever the depth. */
export async function bundleFolders(files: readonly FileAt[]): Promise<File[]> {
  const folders = new Map<string, Map<string, File>>()
  for (const { path, file } of files) {
    const cut = path.lastIndexOf('/')
    const folder = path.slice(0, Math.max(0, cut))
    const name = path.slice(cut + 1)
    if (!runFiles.includes(name)) continue
    folders.set(folder, (folders.get(folder) ?? new Map<string, File>()).set(name, file))
  }
  const runs = [...folders].filter(([, held]) => held.has('run.json'))
  if (runs.length === 0) {
    const top = files[0]?.path.split('/')[0] ?? 'The folder'
    throw new UserError(
      'usage',
      `${top} holds no run.json. Choose the folder of a run, or one that holds such folders.`
    )
  }
  return Promise.all(runs.map(([folder, held]) => bundle(folder, held)))
}

async function bundle(folder: string, held: ReadonlyMap<string, File>): Promise<File> {
  const files: Record<string, Uint8Array> = {}
  for (const [name, file] of held) files[name] = new Uint8Array(await file.arrayBuffer())
  const bytes = Uint8Array.from(packr.pack({ blockscopeRun: 1, files }))
  return new File([bytes], `${folder.split('/').at(-1)}.blockscope-run`)
}
