import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { roundSchema, type StoredRound } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { describeIssues } from '@shared/schemaWords'
import { samplesName } from './runFile'

/** What a run's folder keeps of each round of each point, or of one step's; nothing where it keeps no samples. */
export async function readRounds(folder: string, step?: number): Promise<StoredRound[]> {
  const rounds: StoredRound[] = []
  const path = join(folder, samplesName)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch {
    return rounds
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '' || (step !== undefined && !line.startsWith(`{"step":${step},`))) continue
    let json: unknown
    try {
      json = JSON.parse(line)
    } catch {
      // A torn last line of a run that was cut off.
      continue
    }
    const parsed = v.safeParse(roundSchema, json)
    if (!parsed.success) {
      const words = describeIssues(parsed.issues)
      throw new UserError('usage', `${path} is damaged: line ${index + 1}: ${words}.`)
    }
    rounds.push(parsed.output)
  }
  return rounds
}
