/** How levels, dispositions and states look: an icon, a word and a tone; never a colour alone. */
import type { Disposition, RunStatus } from '@shared/contract/jobs'
import type { Target } from '@shared/contract/devices'
import type { RunOutcome } from '@shared/contract/run'
import { verdictWords } from '@shared/measurement/outcome'
import type { ValidationChange } from '@shared/measurement/compareValidations'
import type { Verdict } from '@shared/measurement/verdict'
import type { IconName } from './icons'

export type Tone = 'ok' | 'info' | 'warn' | 'bad' | 'na'

export interface Look {
  icon: IconName
  text: string
  short: string
  tone: Tone
}

const look = (icon: IconName, text: string, tone: Tone, short = text): Look => ({
  icon,
  text,
  short,
  tone
})

const levels: Record<string, Look> = {
  native: look('native', 'Native', 'ok'),
  exact: look('exact', 'Exact in software', 'info', 'Exact'),
  approximate: look('approximate', 'Approximate in software', 'warn', 'Approx.'),
  emulated: look('info', 'Emulated instruction', 'na', 'Emulated'),
  given: look('info', 'From a file', 'info', 'File'),
  unavailable: look('minus', 'Not available', 'na', 'None')
}

export const levelLook = (level: string): Look => levels[level] ?? levels['unavailable']!

const dispositions: Record<Disposition, Look> = {
  passed: look('check', 'Passed', 'ok'),
  baseline: look('info', 'Reference only', 'na', 'Reference'),
  incorrect: look('cross', 'Incorrect', 'bad'),
  error: look('warning', 'Error', 'bad'),
  'not-supported': look('minus', 'Not supported', 'na', 'No'),
  'not-verified': look('info', 'Proves nothing', 'warn', 'Unproven'),
  'not-run': look('queue', 'Not run', 'na'),
  cancelled: look('stop', 'Cancelled', 'na', 'Stopped')
}

export const dispositionLook = (disposition: Disposition): Look => dispositions[disposition]

const checks: Record<'passed' | 'failed' | 'not-run' | 'no-scales', Look> = {
  passed: look('check', 'Passed', 'ok'),
  failed: look('cross', 'Failed', 'bad'),
  'not-run': look('minus', 'Not run', 'na'),
  'no-scales': look('minus', 'No scales', 'na')
}

/** Of one check inside a validation. */
export const checkLook = (state: keyof typeof checks): Look => checks[state]

const statuses: Record<RunStatus, Look> = {
  queued: look('queue', 'Queued', 'na'),
  running: look('play', 'Running', 'info'),
  done: look('check', 'Done', 'ok'),
  cancelled: look('stop', 'Cancelled', 'na'),
  failed: look('cross', 'Failed', 'bad'),
  interrupted: look('warning', 'Interrupted', 'warn')
}

const outcomes: Record<RunOutcome['verdict'], Look> = {
  running: statuses.running,
  passed: look('check', verdictWords.passed, 'ok'),
  failed: look('cross', verdictWords.failed, 'bad'),
  incomplete: look('stop', verdictWords.incomplete, 'warn'),
  unproven: look('info', verdictWords.unproven, 'warn'),
  reference: look('info', verdictWords.reference, 'na'),
  unsupported: look('minus', verdictWords.unsupported, 'na'),
  nothing: look('minus', verdictWords.nothing, 'warn')
}

/** What became of a run: its verdict once it has ended, never the job's mere state. */
export function outcomeLook(status: RunStatus, { verdict }: Pick<RunOutcome, 'verdict'>): Look {
  return verdict === 'running' ? statuses[status] : outcomes[verdict]
}

const targetStates: Record<Target['state'], Look> = {
  'run-here': look('check', 'Run here', 'ok'),
  run: look('check', 'Run', 'ok'),
  compiled: look('info', 'Compiled only', 'warn'),
  emulated: look('exact', 'Emulated', 'info'),
  absent: look('minus', 'Absent', 'na')
}

export const targetLook = (state: Target['state']): Look => targetStates[state]

const verdicts: Record<Verdict, Look> = {
  fast: look('chevron', 'FAST', 'ok'),
  slow: look('warning', 'SLOW', 'bad'),
  same: look('exact', 'SAME', 'na'),
  ambiguous: look('info', 'AMBIGUOUS', 'warn')
}

export const verdictLook = (verdict: Verdict): Look => verdicts[verdict]

const validationChanges: Record<ValidationChange, Look> = {
  'now fails': look('cross', 'Now fails', 'bad'),
  'error grew': look('warning', 'Error grew', 'warn'),
  'now passes': look('check', 'Now passes', 'ok'),
  'error shrank': look('check', 'Error shrank', 'ok'),
  same: look('exact', 'Same', 'na')
}

export const validationChangeLook = (change: ValidationChange): Look => validationChanges[change]
