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

/** The lines of a file that grows by one JSON object a line, each with its number from 1 on; a torn one is left out. */
export async function* jsonLines(
  path: string,
  isAsked: (line: string) => boolean = () => true
): AsyncGenerator<{ number: number; json: unknown }> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch {
    return
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '' || !isAsked(line)) continue
    try {
      yield { number: index + 1, json: JSON.parse(line) as unknown }
    } catch {
      // Of a run that was cut off.
    }
  }
}

/** Steps that were finished after run.json was last written: one JSON object a line. */
async function readJournal(folder: string): Promise<Step[]> {
  const steps: Step[] = []
  for await (const { json } of jsonLines(join(folder, journalName))) {
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
