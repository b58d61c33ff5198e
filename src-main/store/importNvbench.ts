/** The files of a run that nvbench's JSON becomes. */
import { basename } from 'node:path'
import * as v from 'valibot'
import { importCommandOf } from '@shared/contract/command'
import { defaults } from '@shared/contract/defaults'
import { sweepSpecSchema } from '@shared/contract/jobs'
import { currentRunFormatVersion, type Run } from '@shared/contract/run'
import { UserError } from '@shared/errors'
import {
  outputOfNvbench,
  runOfNvbench,
  type NvbenchAsked,
  type ReadBeside
} from '@shared/profile/read/nvbenchRun'
import { describeIssues } from '@shared/schemaWords'
import { version as appVersion } from '../../package.json'
import { runFileName, samplesName, stringifyRun } from './runFile'
import { makeRunId } from './runStore'

/** @throws UserError for a file whose points are no sweep. */
export function filesOfNvbench(
  name: string,
  bytes: Uint8Array,
  asked: NvbenchAsked,
  readBeside: ReadBeside | undefined
): { [runFileName]: Uint8Array; [samplesName]?: Uint8Array } {
  const file = basename(name)
  const made = runOfNvbench(bytes, file, asked, readBeside)
  const now = new Date()
  const all = <T>(of: (step: Run['steps'][number]) => T) => [...new Set(made.steps.map(of))]
  const formats = all(({ format }) => format)
  const parsed = v.safeParse(sweepSpecSchema, {
    kind: 'sweep',
    device: made.device?.id ?? defaults.device,
    formats,
    mValues: all(({ m }) => m),
    nValues: all(({ n }) => n),
    kValues: all(({ k }) => k),
    output: outputOfNvbench
  })
  if (!parsed.success)
    throw new UserError('usage', `${file} is no sweep: ${describeIssues(parsed.issues)}.`)
  const run: Run = {
    formatVersion: currentRunFormatVersion,
    id: makeRunId('nvbench', formats, now),
    kind: 'sweep',
    label: file.replace(/\.json$/i, ''),
    notes: '',
    createdAt: now.toISOString(),
    status: 'done',
    reason: '',
    appVersion,
    measuredBy: { program: 'nvbench', version: made.version, file },
    host: { name: '', system: '', node: '' },
    command: importCommandOf(file),
    spec: parsed.output,
    ...(made.device && { device: made.device }),
    libraries: [],
    events: made.notes.map((message) => ({ at: now.toISOString(), message })),
    steps: made.steps
  }
  const encode = (text: string) => new TextEncoder().encode(text)
  const samples = made.rounds.map((round) => JSON.stringify(round) + '\n').join('')
  return {
    [runFileName]: encode(stringifyRun(run)),
    ...(samples && { [samplesName]: encode(samples) })
  }
}
