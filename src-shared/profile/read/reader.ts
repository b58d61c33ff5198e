/** What a reader of one form is, and what every reader gives. */
import type { KernelSums } from '../../capture/kernelSums'
import type { Run } from '../../contract/run'
import type { ProfileTree } from '../tree/profileTree'
import type { Timeline } from '../tree/timeline'
import type { ByteSource } from './byteSource'
import type { FileHead } from './fileHead'

export interface OpenedProfile {
  tree: ProfileTree
  /** Events on lanes, where the file is a trace. */
  timeline: Timeline | null
  /** Where the file is a run. */
  run?: Run
  /** Where the file says which process of a distributed program it is of. */
  rank?: TraceRank
  /** Where the file is of a capture: what each launch shape of each kernel took. */
  kernels?: KernelSums
}

/** PyTorch's "distributedInfo", or RANK and WORLD_SIZE of a captured process. */
export interface TraceRank {
  rank: number
  worldSize: number | null
}

/** Takes a file as it streams in. @throws UserError with the place of what is wrong. */
export interface Parser {
  /** The chunk may be a buffer that is filled again: what is kept of it is copied. */
  write(chunk: Uint8Array): void
  finish(): OpenedProfile
}

/** One row per form that is read. */
export interface ProfileReaderRow {
  /** As errors and the documentation name it: 'a Chrome trace'. */
  name: string
  /** From content alone: names and extensions lie. The first row that says yes reads the file. */
  recognise(head: FileHead): boolean
  /** @param fileName shown in errors */
  open(fileName: string): Parser
  /** For a form that is read at any place: where the file can be, no more of it is held than is looked at. */
  openAt?(source: ByteSource, fileName: string): OpenedProfile
}

/** A form that is known and not read. */
export interface KnownForm {
  name: string
  recognise(head: FileHead): boolean
  /** Where content says nothing at all, a name may. */
  fileName?: RegExp
  /** What to do with such a file, as a clause: 'export it with ...'. */
  advice?: string
}

/** For forms that are read whole: keeps the chunks until the end. */
export class WholeParser implements Parser {
  private readonly chunks: Uint8Array[] = []
  constructor(private readonly read: (bytes: Uint8Array) => OpenedProfile) {}
  write(chunk: Uint8Array): void {
    // A Buffer's own slice() would not copy.
    this.chunks.push(new Uint8Array(chunk))
  }
  finish(): OpenedProfile {
    return this.read(joined(this.chunks))
  }
}

export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
