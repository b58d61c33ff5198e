import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import {
  currentRunFormatVersion,
  runSchema,
  stepSchema,
  type Run,
  type Step
} from '@shared/contract/run'
import { UserError, messageOf } from '@shared/errors'

/** JSON has no NaN or infinities; run.json writes them as strings, which the schema reads back. */
export function stringifyRun(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, item: unknown) =>
      typeof item === 'number' && !Number.isFinite(item) ? String(item) : item,
    indent
  )
}

/**
 * Reads the text of a run.json. Throws a UserError that names the file and what is wrong: not JSON, a newer version,
 * or the first field that does not fit.
 */
export function parseRun(text: string, path: string): Run {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new UserError('usage', `${path} is damaged: ${messageOf(error)}. It is left untouched.`)
  }
  const version = (json as { formatVersion?: unknown } | null)?.formatVersion
  if (typeof version === 'number' && version > currentRunFormatVersion) {
    throw new UserError(
      'usage',
      `${path} was written by a newer blockscope (run format ${version}; this one reads up to ` +
        `${currentRunFormatVersion}). Update blockscope to open it. It is left untouched.`
    )
  }
  const parsed = v.safeParse(runSchema, json)
  if (parsed.success) return parsed.output
  const issue = parsed.issues[0]
  const field = v.getDotPath(issue) ?? 'the top level'
  throw new UserError(
    'usage',
    `${path} is not a run: at ${field}, ${issue.message}. It is left untouched.`
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
