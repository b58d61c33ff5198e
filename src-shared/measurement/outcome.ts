/**
 * What became of a run, in one place: the verdict that every list, view, report and exit code shows. A job that ended is
 * not a job that passed, what was planned stands beside what was done, and nothing judged is no pass.
 */
import type { Disposition } from '../contract/jobs'
import type { Run, RunOutcome, Step } from '../contract/run'

type Judged = 'passed' | 'failed' | 'reference' | 'unsupported' | 'unproven' | 'undone'

const judged: Record<Disposition, Judged> = {
  passed: 'passed',
  baseline: 'reference',
  incorrect: 'failed',
  error: 'failed',
  'not-supported': 'unsupported',
  'not-verified': 'unproven',
  'not-run': 'undone',
  cancelled: 'undone'
}

/** A disposition as a person reads it. */
export const dispositionWords: Record<Disposition, string> = {
  passed: 'passed',
  baseline: 'reference only',
  incorrect: 'incorrect',
  error: 'error',
  'not-supported': 'not supported',
  'not-verified': 'proves nothing',
  'not-run': 'not run',
  cancelled: 'cancelled'
}

export const verdictWords: Record<RunOutcome['verdict'], string> = {
  running: 'Running',
  passed: 'Passed',
  failed: 'Failed',
  incomplete: 'Incomplete',
  unproven: 'Proves nothing',
  reference: 'Reference only',
  unsupported: 'Not supported here',
  nothing: 'Nothing judged'
}

/** What a validation makes of a step. A baseline computes something else: it is outside pass and fail. */
export function dispositionOf(
  status: 'passed' | 'incorrect' | 'proves-nothing',
  baseline: boolean
): Disposition {
  if (baseline) return 'baseline'
  return status === 'proves-nothing' ? 'not-verified' : status
}

type Ended = Pick<Run, 'kind' | 'status' | 'steps' | 'stepsPlanned'>

export function outcomeOf(run: Ended): RunOutcome {
  const count = (what: Judged) =>
    run.steps.filter(({ disposition }) => judged[disposition] === what).length
  const planned = Math.max(run.stepsPlanned ?? run.steps.length, run.steps.length)
  const counts = {
    planned,
    passed: count('passed'),
    failed: count('failed'),
    references: count('reference'),
    unsupported: count('unsupported'),
    unproven: count('unproven'),
    undone: count('undone') + planned - run.steps.length,
    measured: run.steps.filter(({ measurement }) => measurement).length
  }
  const verdict = verdictOf(run, counts)
  return { verdict, ...counts, sentence: sentenceOf(run, verdict, counts) }
}

type Counts = Omit<RunOutcome, 'verdict' | 'sentence'>

function verdictOf({ kind, status }: Ended, counts: Counts): RunOutcome['verdict'] {
  if (status === 'queued' || status === 'running') return 'running'
  if (counts.failed > 0 || status === 'failed') return 'failed'
  if (status !== 'done' || counts.undone > 0) return 'incomplete'
  if (counts.unproven > 0) return 'unproven'
  if (counts.passed > 0) return 'passed'
  if (counts.references > 0) return kind === 'sweep' ? 'reference' : 'nothing'
  return counts.planned > 0 ? 'unsupported' : 'nothing'
}

/** '18 of 36 passed, 18 failed', '0 of 128 measured, 128 not done'. */
function sentenceOf(
  { kind, status }: Ended,
  verdict: RunOutcome['verdict'],
  counts: Counts
): string {
  const { planned, passed, failed, references, unsupported, unproven, undone, measured } = counts
  const judgedSteps = planned - references - unsupported
  const parts = [
    kind === 'sweep'
      ? `${measured} of ${planned - unsupported} measured`
      : `${passed} of ${judgedSteps} passed`
  ]
  const also = (number: number, words: string) => {
    if (number > 0) parts.push(`${number} ${words}`)
  }
  also(failed, 'failed')
  also(unproven, unproven === 1 ? 'proves nothing' : 'prove nothing')
  also(references, 'reference only')
  also(unsupported, 'not supported')
  if (verdict !== 'running') also(undone, 'not done')
  const cutOff = status === 'cancelled' || status === 'interrupted'
  return parts.join(', ') + (cutOff ? ` (${status})` : '')
}

/** Whether a step counts against its run. */
export const isFailed = (step: Step): boolean => judged[step.disposition] === 'failed'
