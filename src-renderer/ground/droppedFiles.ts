/** Files dropped on the window: what they are, and which view takes them. */
import { captureFileName, isShardName, saysCapture } from '@shared/capture/captureFiles'
import { onMounted, shallowRef, watch } from 'vue'
import type { Route, ViewId } from './route'

export interface FileAt {
  /** 'folder/run.json' */
  path: string
  file: File
}

export interface Dropped {
  files: File[]
  inFolders: FileAt[]
}

/** A layout's description is shorter, and the head of a run file names its fields. */
const headBytes = 65_536

/**
 * The view that reads what was dropped; what nothing else claims is a profile, whose reader says what is wrong.
 * @param now the view it was dropped on; '' where there is none
 */
export async function viewFor({ files, inFolders }: Dropped, now: Route['view']): Promise<ViewId> {
  if (isCaptureFolder(inFolders)) return 'profile'
  if (inFolders.length > 0) return 'runs'
  const file = files[0]
  if (!file) return 'profile'
  const name = file.name.toLowerCase()
  if (name.endsWith('.blockscope-run')) return 'runs'
  if (areArrays(files) && (files.length > 1 || !name.endsWith('.safetensors'))) return 'validate'
  if (/\.(safetensors|gguf)$/.test(name)) return 'formats'
  return /\.json(\.gz)?$/.test(name) ? viewForJson(file, now) : 'profile'
}

/** Shards lie in it; a capture of nothing has its record alone. */
export const isCaptureFolder = (files: readonly FileAt[]): boolean =>
  files.some(({ path }) => isShardName(path) || path.endsWith(`/${captureFileName}`))

/** Files of arrays: several are operands, and a C to be judged; of one alone Formats shows the tensors. */
export const areArrays = (files: readonly File[]): boolean =>
  files.length > 0 && files.every(({ name }) => /\.(safetensors|npz|npy|pt|pth)$/i.test(name))

/** Files of kernels in Python: programs, which the main side asks about. */
export const arePythonFiles = (files: readonly File[]): boolean =>
  files.length > 0 && files.every(({ name }) => /\.py$/i.test(name))

/** Of a gzipped file what it holds; '' where that is damaged, which its reader says. */
async function headOf(file: File): Promise<string> {
  if (!file.name.toLowerCase().endsWith('.gz')) return file.slice(0, headBytes).text()
  const reader = file
    .stream()
    .pipeThrough(new DecompressionStream('gzip'))
    .pipeThrough(new TextDecoderStream())
    .getReader()
  let head = ''
  try {
    while (head.length < headBytes) {
      const { done, value } = await reader.read()
      if (done) break
      head += value
    }
    await reader.cancel()
  } catch {
    return ''
  }
  return head.slice(0, headBytes)
}

async function viewForJson(file: File, now: Route['view']): Promise<ViewId> {
  const head = await headOf(file)
  if (saysCapture(head)) return 'profile'
  if (/^\s*\{\s*"formatVersion"/.test(head)) return 'runs'
  // nvbench's points are a profile, and a run where runs are.
  if (now === 'runs' && /^\s*\{\s*"(meta|devices|benchmarks)"/.test(head)) return 'runs'
  try {
    const json = JSON.parse(head) as unknown
    if (typeof json === 'object' && json !== null && 'order' in json && 'rows' in json)
      return 'layouts'
  } catch {
    // Longer than the head, or no JSON: no layout.
  }
  return 'profile'
}

const waiting = shallowRef<{ view: ViewId; dropped: Dropped }>()

/** Leaves what was dropped to a view, which may still have to load. */
export function handOver(view: ViewId, dropped: Dropped): void {
  waiting.value = { view, dropped }
}

/** Takes what was dropped for this view, before it was shown or while it is. */
export function onHandedOver(view: ViewId, take: (dropped: Dropped) => void): void {
  onMounted(() =>
    watch(
      waiting,
      (held) => {
        if (held?.view !== view) return
        waiting.value = undefined
        take(held.dropped)
      },
      { immediate: true }
    )
  )
}

/** What was dropped: plain files, and all files of the folders among them. */
export async function droppedFiles(transfer: DataTransfer): Promise<Dropped> {
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
