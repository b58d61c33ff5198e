import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { unpack } from 'msgpackr'
import * as v from 'valibot'
import type { RunSummary } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { parseRun } from './runFile'
import { summarize, type RunStore } from './runStore'

/** Names that a run folder may hold; nothing else is taken from a bundle. */
export const bundledFiles = ['run.json', 'samples.jsonl', 'profile.hatchet', 'trace.json'] as const

const bundleSchema = v.strictObject({
  blockscopeRun: v.literal(1),
  files: v.record(v.picklist(bundledFiles), v.instance(Uint8Array))
})
export type RunBundle = v.InferOutput<typeof bundleSchema>

/** Adds a run from a run.json or a whole folder that runs.export bundled (.blockscope-run). */
export async function importRun(
  store: RunStore,
  name: string,
  bytes: Uint8Array
): Promise<RunSummary> {
  const files = looksLikeJson(bytes) ? { 'run.json': bytes } : readBundle(name, bytes)
  const text = new TextDecoder().decode(files['run.json'])
  const run = parseRun(text, basename(name))
  if (run.status === 'running' || run.status === 'queued') run.status = 'interrupted'
  const writer = await store.create(run)
  try {
    for (const [file, data] of Object.entries(files)) {
      if (file !== 'run.json') await writer.file(file, data)
    }
    await store.finish(writer)
  } catch (error) {
    await rm(join(writer.folder), { recursive: true, force: true })
    throw error
  }
  return summarize(run)
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
      `${basename(name)} is no run. Choose a run.json, or a .blockscope-run file that "runs export --as folder" wrote.`
    )
  }
  return parsed.output.files
}
