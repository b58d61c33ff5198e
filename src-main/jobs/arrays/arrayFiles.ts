/** Files of named arrays as a job reads them: on disk, or handed over with the job. */
// eslint-disable-next-line no-restricted-imports -- what torch is to read, in a folder that mkdtemp makes its owner's alone
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { UserError } from '@shared/errors'
import { readArrays, type ArrayFile } from '@shared/formats/arrayFiles'
import { readError } from '../../ground/named'
import { isTorchFile, readTorchFile } from './torchFile'

/** Reads the arrays that a job names; `flag`: which flag names them, if one does, for the sentence of what cannot be read. */
export type ReadArrayFile = (path: string, flag: string) => Promise<ArrayFile>

/**
 * .safetensors, .npz, .npy or .pt, or a folder of .npy files that are each named as their array. Throws a UserError in one
 * sentence.
 */
export const arrayFileOnDisk: ReadArrayFile = async (path, flag) => {
  try {
    if ((await stat(path)).isDirectory()) return await arraysOfFolder(path)
    const bytes = await readFile(path)
    return await arraysOf(bytes, path, () => readTorchFile(path))
  } catch (error) {
    throw readError(flag === '' ? path : `${flag} ${path}`, error)
  }
}

/** The arrays of a file that came as bytes. */
export function arrayFileOf(name: string, bytes: Uint8Array): Promise<ArrayFile> {
  return arraysOf(bytes, name, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blockscope-arrays-'))
    try {
      const path = join(folder, 'given.pt')
      await writeFile(path, bytes)
      return await readTorchFile(path, name)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
}

async function arraysOf(
  bytes: Uint8Array,
  path: string,
  readTorch: () => Promise<Uint8Array>
): Promise<ArrayFile> {
  const plain = isTorchFile(bytes, path) ? await readTorch() : bytes
  return readArrays(plain, path, basename(path, extname(path)))
}

async function arraysOfFolder(path: string): Promise<ArrayFile> {
  const names = (await readdir(path)).filter((name) => name.toLowerCase().endsWith('.npy')).sort()
  if (names.length === 0) throw new UserError('usage', `${path} is a folder without .npy files.`)
  const files = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(path, name))
      return readArrays(bytes, join(path, name), basename(name, extname(name)))
    })
  )
  return { ...mergedArrays(files), path }
}

/** One file of all their arrays, under all their names. */
export function mergedArrays(files: readonly ArrayFile[]): ArrayFile {
  const path = files.map((file) => file.path).join(', ')
  const metadata = Object.assign({}, ...files.map((file) => file.metadata)) as Record<
    string,
    string
  >
  return { path, arrays: files.flatMap(({ arrays }) => arrays), metadata }
}
