import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { parseRun } from '@shared/contract/parseRun'
import { stepSchema, type Run, type Step } from '@shared/contract/run'
import { UserError } from '@shared/errors'

/** JSON has no NaN or infinities; run.json writes them as strings, which the schema reads back. */
export function stringifyRun(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, item: unknown) =>
      typeof item === 'number' && !Number.isFinite(item) ? String(item) : item,
    indent
  )
}

/** Steps that were finished after run.json was last written: one JSON object a line; a torn last line is dropped. */
async function readJournal(folder: string): Promise<Step[]> {
  let text: string
  try {
    text = await readFile(join(folder, journalName), 'utf8')
  } catch {
    return []
  }
  const steps: Step[] = []
  for (const line of text.split('\n')) {
    if (!line) continue
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch {
      continue
    }
    const parsed = v.safeParse(stepSchema, json)
    if (parsed.success) steps.push(parsed.output)
  }
  return steps
}

export const runFileName = 'run.json'
export const journalName = 'steps.jsonl'
export const samplesName = 'samples.jsonl'

/** Puts a step in its place, in the order of the plan; a later result of the same step replaces the earlier. */
export function placeStep(steps: Step[], step: Step): void {
  const at = steps.findLastIndex((other) => other.index <= step.index)
  const replaces = at >= 0 && steps[at]!.index === step.index
  steps.splice(replaces ? at : at + 1, replaces ? 1 : 0, step)
}

/** The run in a folder, with every step that reached the disk. */
export async function readRunFolder(folder: string): Promise<Run> {
  const path = join(folder, runFileName)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch {
    throw new UserError('usage', `${folder} is no run folder: it has no readable ${runFileName}.`)
  }
  const run = parseRun(text, path)
  for (const step of await readJournal(folder)) placeStep(run.steps, step)
  return run
}
