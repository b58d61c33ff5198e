/** What a list of runs shows of each, kept beside its run.json so that a list reads little. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { outcomeOf } from '@shared/measurement/outcome'
import { optionsOf, shapeOf } from '@shared/measurement/runName'
import { runSummarySchema, type Run, type RunSummary } from '@shared/contract/run'
import { writeFileAtomic } from '../ground/files'
import { journalName, runFileName } from './runFile'

const summaryName = 'summary.json'

/** One more whenever `summarize` counts otherwise: summaries that were made before are then made anew. */
const summaryVersion = 2

const keptSchema = v.object({
  version: v.literal(summaryVersion),
  /** The state of run.json and its journal that this was made from. */
  of: v.string(),
  summary: runSummarySchema
})

export function summarize(run: Run): RunSummary {
  return {
    id: run.id,
    kind: run.kind,
    label: run.label,
    notes: run.notes,
    createdAt: run.createdAt,
    status: run.status,
    device: run.device?.name ?? '',
    formats: run.spec.formats,
    shape: shapeOf(run),
    options: optionsOf(run.spec),
    outcome: outcomeOf(run)
  }
}

/** Changes whenever a result of the run reaches the disk. */
export async function stateOf(folder: string): Promise<string> {
  const states = [runFileName, journalName].map(async (name) => {
    try {
      const { size, mtimeMs } = await stat(join(folder, name))
      return `${size} bytes ${mtimeMs}`
    } catch {
      return 'none'
    }
  })
  return (await Promise.all(states)).join(', ')
}

/** The summary that was kept of this state; undefined when there is none. */
export async function keptSummary(folder: string, state: string): Promise<RunSummary | undefined> {
  try {
    const kept = v.safeParse(
      keptSchema,
      JSON.parse(await readFile(join(folder, summaryName), 'utf8'))
    )
    return kept.success && kept.output.of === state ? kept.output.summary : undefined
  } catch {
    return undefined
  }
}

/** A store that cannot be written is listed all the same, only slower. */
export async function keepSummary(
  folder: string,
  state: string,
  summary: RunSummary
): Promise<void> {
  const kept: v.InferOutput<typeof keptSchema> = { version: summaryVersion, of: state, summary }
  await writeFileAtomic(join(folder, summaryName), JSON.stringify(kept)).catch(() => {})
}
