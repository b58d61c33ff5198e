/** Run folders as they lie on a disk, on their way into the store: each becomes one file that runs.import takes. */
import { Packr } from 'msgpackr'
import { UserError } from '@shared/errors'

/** The files of a run folder; what else lies there stays there. */
const runFiles = ['run.json', 'samples.jsonl', 'profile.hatchet', 'trace.json']

export interface FileAt {
  /** 'folder/run.json' */
  path: string
  file: File
}

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

/** What was dropped: plain files, and all files of the folders among them. */
export async function droppedFiles(
  transfer: DataTransfer
): Promise<{ files: File[]; inFolders: FileAt[] }> {
  // Entries can be asked for only before the first wait.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry())
  const plain = [...transfer.files].filter((_file, index) => !entries[index]?.isDirectory)
  const inFolders: FileAt[] = []
  for (const entry of entries) if (entry?.isDirectory) inFolders.push(...(await filesBelow(entry)))
  return { files: plain, inFolders }
}

async function filesBelow(entry: FileSystemEntry): Promise<FileAt[]> {
  const path = entry.fullPath.replace(/^\//, '')
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject)
    )
    return [{ path, file }]
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const found: FileAt[] = []
  for (;;) {
    // A reader hands out a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject)
    )
    if (some.length === 0) return found
    for (const child of some) found.push(...(await filesBelow(child)))
  }
}
