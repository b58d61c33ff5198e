/** Files that were opened at once: the parts of one profile are joined, two that are not are compared. */
import { joinProfiles, type PartOfProfile } from '@shared/profile/read/joinProfiles'
import { nameParts } from '@shared/profile/read/nameParts'
import { parserOf, type OpenedProfile } from '@shared/profile/read/openProfile'
import { rocprofCsvReader } from '@shared/profile/read/readers'
import { sniffFormat } from '@shared/profile/read/sniffFormat'
import { timelineOf } from '@shared/profile/timelineOf'
import type { NamedFile, NamedFiles } from './profileProtocol'
import { readCaptureFiles } from './readCaptureFiles'
import type { ReadProfile } from './profileSession'
import { readFile, readInto } from './readFile'

export interface ReadFiles {
  profile: ReadProfile
  /** The older of two that are no parts of one profile. */
  baseline?: ReadProfile
}

/**
 * @param onProgress gets the fraction read of all their bytes, 0..1
 * @throws UserError with the file and the place of what is wrong
 */
export async function readFiles(
  { files, capture }: NamedFiles,
  onProgress: (fraction: number) => void
): Promise<ReadFiles> {
  const names = files.map(({ name }) => name)
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0)
  let before = 0
  const progressOf = (file: Blob) => (fraction: number) =>
    onProgress(bytes === 0 ? 1 : (before + fraction * file.size) / bytes)
  if (capture !== undefined) {
    const opened = await readCaptureFiles(files, (file, fraction) => {
      progressOf(file)(fraction)
      if (fraction === 1) before += file.size
    })
    return { profile: { opened, files: [capture] } }
  }
  if (files.length > 1 && (await areRocprofCsv(files))) {
    const parser = parserOf(rocprofCsvReader, `${names[0]} and ${names.length - 1} more`)
    for (const { file, name } of files) {
      await readInto(parser, file, name, progressOf(file))
      before += file.size
    }
    return { profile: { opened: parser.finish(), files: names } }
  }
  const parts: (PartOfProfile & { opened: OpenedProfile })[] = []
  for (const { file, name } of files) {
    const opened = await readFile(file, name, progressOf(file))
    before += file.size
    const { tree, rank } = opened
    const timeline = files.length === 1 ? opened.timeline : timelineOf(opened)
    parts.push({ fileName: name, tree, rank, timeline, opened })
  }
  if (parts.length === 1) return { profile: { opened: parts[0]!.opened, files: names } }
  const { belongTogether } = nameParts(parts.map(({ fileName, rank }) => ({ fileName, rank })))
  if (parts.length > 2 || belongTogether)
    return { profile: { opened: joinProfiles(parts), files: names } }
  const [older, newer] = ageOf(files[0]!) <= ageOf(files[1]!) ? [0, 1] : [1, 0]
  const single = (at: number) => ({ opened: parts[at]!.opened, files: [names[at]!] })
  return { profile: single(newer), baseline: single(older) }
}

/** When it was last changed; bytes of no file are as new as can be. */
const ageOf = ({ file }: NamedFile): number =>
  'lastModified' in file ? (file as File).lastModified : Infinity

const headBytes = 4096

/** rocprofv3 writes a file per domain; those of one process are one profile. */
async function areRocprofCsv(files: readonly NamedFile[]): Promise<boolean> {
  for (const { file, name } of files) {
    const head = new Uint8Array(await file.slice(0, headBytes).arrayBuffer())
    const found = sniffFormat(head, true, name)
    if (!found || !('reader' in found) || found.reader !== rocprofCsvReader) return false
  }
  return true
}
