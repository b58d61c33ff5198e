import { join } from 'node:path'
import * as v from 'valibot'
import { roundSchema, type StoredRound } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import { describeIssues } from '@shared/schemaWords'
import { jsonLines, samplesName } from './runFile'

/** What a run's folder keeps of each round of each point, or of one step's; nothing where it keeps no samples. */
export async function readRounds(folder: string, step?: number): Promise<StoredRound[]> {
  const rounds: StoredRound[] = []
  const path = join(folder, samplesName)
  const isAsked = (line: string) => step === undefined || line.startsWith(`{"step":${step},`)
  for await (const { number, json } of jsonLines(path, isAsked)) {
    const parsed = v.safeParse(roundSchema, json)
    if (!parsed.success) {
      const words = describeIssues(parsed.issues)
      throw new UserError('usage', `${path} is damaged: line ${number}: ${words}.`)
    }
    rounds.push(parsed.output)
  }
  return rounds
}
