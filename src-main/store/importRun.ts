import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { unpack } from 'msgpackr/unpack'
import * as v from 'valibot'
import { commandOf, importCommandOf } from '@shared/contract/command'
import { parseRun } from '@shared/contract/parseRun'
import type { RunSummary } from '@shared/contract/run'
import { messageOf, UserError } from '@shared/errors'
import type { NvbenchAsked, ReadBeside } from '@shared/profile/read/nvbenchRun'
import { nvbenchReader } from '@shared/profile/read/readers'
import { sniffFormat } from '@shared/profile/read/sniffFormat'
import { derivedFiles } from './derivedFiles'
import { filesOfNvbench } from './importNvbench'
import { samplesName } from './runFile'
import type { RunStore } from './runStore'
import { summarize } from './runSummaries'

/** Names that a run folder may hold; nothing else is taken from a bundle. */
export const bundledFiles = ['run.json', 'samples.jsonl', 'profile.hatchet', 'trace.json'] as const

const bundleSchema = v.strictObject({
  blockscopeRun: v.literal(1),
  files: v.record(v.picklist(bundledFiles), v.instance(Uint8Array))
})
export type RunBundle = v.InferOutput<typeof bundleSchema>

/** What the file of another program leaves open, and what lies beside it. */
export interface ImportedAs {
  nvbench?: NvbenchAsked
  readBeside?: ReadBeside
}

/** Adds a run from a run.json, a whole folder that runs.export bundled (.blockscope-run), or nvbench's JSON; gzipped or not. */
export async function importRun(
  store: RunStore,
  name: string,
  bytes: Uint8Array,
  as: ImportedAs = {}
): Promise<RunSummary> {
  const files = filesOf(name, await decompressed(name, bytes), as)
  const text = new TextDecoder().decode(files['run.json'])
  const run = parseRun(text, basename(name))
  if (run.status === 'running' || run.status === 'queued') run.status = 'interrupted'
  // The line that a person may copy is made from what was asked, not taken from a file of someone else.
  run.command = run.measuredBy ? importCommandOf(run.measuredBy.file) : commandOf(run.spec)
  const writer = await store.create(run)
  try {
    const samples = files[samplesName]
    if (samples) await writer.file(samplesName, samples)
    for (const [file, text] of Object.entries(derivedFiles(run))) await writer.file(file, text)
    await store.finish(writer)
  } catch (error) {
    await rm(join(writer.folder), { recursive: true, force: true })
    throw error
  }
  return summarize(run)
}

/** No run is larger than this; a few kilobytes of gzip may say that they are. */
const largestRun = 2 ** 30

async function decompressed(name: string, bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: largestRun })
  } catch (error) {
    throw new UserError(
      'usage',
      `${basename(name)}: its gzip data is damaged: ${messageOf(error)}.`,
      { cause: error }
    )
  }
}

type Files = Partial<Record<(typeof bundledFiles)[number], Uint8Array>>

function filesOf(name: string, bytes: Uint8Array, { nvbench = {}, readBeside }: ImportedAs): Files {
  const isJson = looksLikeJson(bytes)
  const found = isJson ? sniffFormat(bytes, true) : null
  if (found && 'reader' in found && found.reader === nvbenchReader)
    return filesOfNvbench(name, bytes, nvbench, readBeside)
  if (nvbench.axes || nvbench.device !== undefined)
    throw new UserError(
      'usage',
      `--axes and --device are of nvbench's JSON; ${basename(name)} is none.`
    )
  return isJson ? { 'run.json': bytes } : readBundle(name, bytes)
}

function looksLikeJson(bytes: Uint8Array): boolean {
  const first = bytes.find((byte) => byte > 0x20)
  return first === '{'.charCodeAt(0)
}

function readBundle(name: string, bytes: Uint8Array): Partial<RunBundle['files']> {
  let value: unknown
  try {
    value = unpack(bytes)
  } catch {
    value = undefined
  }
  const parsed = v.safeParse(bundleSchema, value)
  if (!parsed.success || !parsed.output.files['run.json']) {
    throw new UserError(
      'usage',
      `${basename(name)} is no run. Choose a run.json, nvbench's JSON, or a .blockscope-run file that "runs export --as folder" wrote.`
    )
  }
  return parsed.output.files
}
